//! A Ballista cluster on this machine: a scheduler and executors, each in its own process.
//!
//! The processes run this test binary again, with their role in an environment variable; see [`member`].

use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use ballista_executor::executor_process::{ExecutorProcessConfig, start_executor_process};
use ballista_scheduler::cluster::BallistaCluster;
use ballista_scheduler::config::SchedulerConfig;
use ballista_scheduler::scheduler_process::start_server;

/// The variable with the role of a process: `scheduler PORT`, `executor SCHEDULER PORT PORT FOLDER`.
const PART: &str = "PROSPECTOR_TEST_BALLISTA";

/// A cluster that is stopped when it is dropped.
pub struct Ballista {
    /// The value for `--engine`.
    pub url: String,
    scheduler: Child,
    executors: Vec<(Child, PathBuf)>,
}

impl Ballista {
    /// Starts a cluster. `test` is the name of the test that calls [`member`], and `folder` receives the files of the executors.
    pub fn start(test: &str, executors: usize, folder: &Path) -> Self {
        let port = free();
        let scheduler = part(test, &format!("scheduler {port}"));
        let deadline = Instant::now() + Duration::from_secs(60);
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            assert!(Instant::now() < deadline, "the scheduler does not listen");
            std::thread::sleep(Duration::from_millis(50));
        }
        let executors = (0..executors).map(|at| {
            let work = folder.join(format!("executor-{at}"));
            std::fs::create_dir_all(&work).unwrap();
            (part(test, &format!("executor {port} {} {} {}", free(), free(), work.display())), work)
        });
        Ballista { url: format!("df://127.0.0.1:{port}"), scheduler, executors: executors.collect() }
    }

    /// Whether that executor has executed anything.
    pub fn has_worked(&self, executor: usize) -> bool {
        std::fs::read_dir(&self.executors[executor].1).unwrap().next().is_some()
    }

    /// Returns the CPU time of all executors, in kernel clock ticks.
    pub fn ticks(&self) -> u64 {
        let of = |(child, _): &(Child, PathBuf)| -> u64 {
            let text = std::fs::read_to_string(format!("/proc/{}/stat", child.id())).unwrap_or_default();
            // User and system time are the fields 14 and 15, https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html;
            // the name of the program, field 2, may have spaces.
            let fields = text.rsplit(')').next().unwrap_or_default().split_whitespace();
            fields.skip(11).take(2).filter_map(|field| field.parse::<u64>().ok()).sum()
        };
        self.executors.iter().map(of).sum()
    }

    /// Kills an executor.
    pub fn kill_executor(&mut self, executor: usize) {
        end(&mut self.executors[executor].0);
    }

    /// Kills the scheduler.
    pub fn kill_scheduler(&mut self) {
        end(&mut self.scheduler);
    }
}

impl Drop for Ballista {
    fn drop(&mut self) {
        end(&mut self.scheduler);
        self.executors.iter_mut().for_each(|(child, _)| end(child));
    }
}

fn end(child: &mut Child) {
    let _ = child.kill();
    let _ = child.wait();
}

fn free() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

fn part(test: &str, part: &str) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", test, "--ignored", "--nocapture"])
        .env(PART, part)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// Runs the process role that the environment names, until the process is killed; returns at once if there is no role.
pub async fn member() {
    let Ok(part) = std::env::var(PART) else { return };
    let words: Vec<&str> = part.split(' ').collect();
    let port = |text: &str| text.parse::<u16>().unwrap();
    match words.as_slice() {
        ["scheduler", at] => {
            let config = SchedulerConfig { bind_port: port(at), ..SchedulerConfig::default() };
            let cluster = BallistaCluster::new_from_config(&config).await.unwrap();
            start_server(cluster, ([127, 0, 0, 1], port(at)).into(), Arc::new(config)).await.unwrap();
        }
        ["executor", scheduler, at, grpc, folder] => {
            let config = ExecutorProcessConfig {
                scheduler_host: "127.0.0.1".into(),
                scheduler_port: port(scheduler),
                port: port(at),
                grpc_port: port(grpc),
                vcores: 1,
                scheduler_connect_timeout_seconds: 30,
                work_dir: Some((*folder).to_owned()),
                ..ExecutorProcessConfig::default()
            };
            start_executor_process(Arc::new(config)).await.unwrap();
        }
        other => panic!("{other:?}"),
    }
}
