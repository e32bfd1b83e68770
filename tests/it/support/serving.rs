//! Runs `planner serve` with a token from the environment.

use std::{
    io::{BufRead, BufReader},
    net::TcpStream,
    process::{Child, Command, Stdio},
    sync::{Mutex, mpsc},
    thread,
    time::Duration,
};

use super::{Estate, receive, send};

/// The token of every server.
pub(crate) const TOKEN: &str = "open-sesame-0123456789";

/// Time limit for expected output.
const TIMEOUT: Duration = Duration::from_secs(60);

/// A server that listens, until it is dropped.
pub(crate) struct Server {
    pub(crate) child: Child,
    pub(crate) address: String,
    said: Mutex<mpsc::Receiver<String>>,
}

impl Server {
    /// Starts a server over a catalog, with these variables and flags.
    pub(crate) fn new(estate: &Estate, settings: &[(&str, &str)], args: &[&str]) -> Self {
        Server::start(Command::new(env!("CARGO_BIN_EXE_planner")), estate, settings, args)
    }

    /// Starts a server with at most `kib` KiB of address space.
    pub(crate) fn with_memory(kib: u64, estate: &Estate, settings: &[(&str, &str)], args: &[&str]) -> Self {
        let mut shell = Command::new("sh");
        let limited = format!("ulimit -v {kib}; exec \"$0\" \"$@\"");
        shell.args(["-c", &limited, env!("CARGO_BIN_EXE_planner")]);
        Server::start(shell, estate, settings, args)
    }

    fn start(mut command: Command, estate: &Estate, settings: &[(&str, &str)], args: &[&str]) -> Self {
        command.env_clear();
        for (name, value) in estate.planner().get_envs() {
            command.env(name, value.unwrap());
        }
        command.envs(settings.iter().copied()).env("PROSPECTOR_TOKEN", TOKEN);
        command.args(["serve", "--listen", "127.0.0.1:0"]).args(args);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let (sender, said) = mpsc::channel();
        let errors = BufReader::new(child.stderr.take().unwrap());
        thread::spawn(move || errors.lines().map_while(Result::ok).for_each(|line| drop(sender.send(line))));
        let mut server = Server { child, address: String::new(), said: Mutex::new(said) };
        let line = server.until("listening on http://");
        server.address = line.split("http://").nth(1).unwrap().split(' ').next().unwrap().to_owned();
        server
    }

    /// Waits for a line on standard error.
    pub(crate) fn until(&self, wanted: &str) -> String {
        let said = self.said.lock().unwrap();
        loop {
            let line = said.recv_timeout(TIMEOUT).expect("it does not say so");
            assert!(!line.contains(TOKEN), "{line}");
            if line.contains(wanted) {
                return line;
            }
        }
    }

    /// Sends a request with additional header lines; the caller reads the response.
    pub(crate) fn send(&self, method: &str, path: &str, headers: &str, body: &str) -> TcpStream {
        let headers = format!("authorization: Bearer {TOKEN}\r\n{headers}");
        send(&self.address, method, path, &headers, body)
    }

    /// Sends a request, and returns the status and the body of the response.
    pub(crate) fn ask(&self, method: &str, path: &str, body: &str) -> (u16, String) {
        receive(self.send(method, path, "", body))
    }

    /// Sends the termination signal.
    pub(crate) fn signal(&self) {
        Command::new("kill").args(["-TERM", &self.child.id().to_string()]).status().unwrap();
    }

    /// Kills it.
    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
