//! `planner facts`: lists, approves and removes user-supplied definitions of two clients of a server.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    process::{Child, Command, Stdio},
};

use serde_json::{Value, json};

use crate::support::Estate;

const ANN: &str = "token-of-ann-0123456789";
const BEN: &str = "token-of-ben-0123456789";

struct Server {
    child: Child,
    address: String,
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Server {
    fn new(estate: &Estate) -> Self {
        estate.write("tokens", format!("{ANN} # the desk\n{BEN}\n"));
        let planner = estate.planner();
        let mut command = Command::new(planner.get_program());
        command.env_clear();
        for (name, value) in planner.get_envs() {
            command.env(name, value.unwrap());
        }
        command.args(["serve", "--listen", "127.0.0.1:0", "--token-file"]).arg(estate.path("tokens"));
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines().map_while(Result::ok);
        let line = lines.find(|line| line.contains("listening on http://")).expect("it does not listen");
        let address = line.split("http://").nth(1).unwrap().split(' ').next().unwrap().to_owned();
        std::thread::spawn(move || lines.for_each(drop));
        Server { child, address }
    }

    fn call(&self, token: &str, tool: &str, arguments: Value) -> Value {
        let body = arguments.to_string();
        let mut stream = TcpStream::connect(&self.address).unwrap();
        write!(
            stream,
            "POST /v1/tools/{tool} HTTP/1.1\r\nhost: {}\r\nauthorization: Bearer {token}\r\nconnection: close\r\n\
             content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
            self.address,
            body.len()
        )
        .unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        let body = text.split_once("\r\n\r\n").unwrap_or_else(|| panic!("{text}")).1;
        body.parse().unwrap_or_else(|error| panic!("{error} in {text}"))
    }

    fn resolve(&self, token: &str) -> Value {
        self.call(token, "resolve_fact", json!({"question": "What is churn?"}))["answer"].clone()
    }
}

#[test]
fn client_facts_are_approved_or_removed_by_the_operator() {
    let estate = Estate::new("databases:\n- path: orders.csv\n").with("orders.csv", "order_id,total\n1,9.50\n");
    let server = Server::new(&estate);
    let added = server.call(ANN, "add_fact", json!({"term": "churn", "definition": "No order for 90 days."}));
    assert_eq!(added["answer"]["pending"], true, "{added}");
    assert_eq!(server.resolve(ANN)["answer"], "No order for 90 days.");
    assert!(server.resolve(BEN)["answer"].is_null());

    let waiting = estate.run(["facts", "list", "--pending"]).json(0);
    let (id, said_by) = (waiting[0]["id"].as_str().unwrap().to_owned(), &waiting[0]["said_by"]);
    assert_eq!((said_by, &waiting[0]["term"]), (&json!("the desk"), &json!("churn")), "{waiting}");
    let wrong = estate.run(["facts", "approve", "0123456789abcdef"]);
    assert!(wrong.code == Some(1) && wrong.err.contains("no pending fact has this id"), "{}", wrong.err);
    let approved = estate.run(["facts", "approve", &id]).json(0);
    assert_eq!(approved[0]["pending"], false, "{approved}");
    let of_ben = server.resolve(BEN);
    assert_eq!(of_ben["answer"], "No order for 90 days.", "{of_ben}");
    assert_eq!(of_ben["sources"][0]["name"], "said by the desk", "{of_ben}");

    let all = estate.run(["facts", "list"]).json(0);
    let id = all[0]["id"].as_str().unwrap();
    estate.run(["facts", "remove", id]).json(0);
    assert_eq!(estate.run(["facts", "list"]).json(0), json!([]));
    for token in [ANN, BEN] {
        assert!(server.resolve(token)["answer"].is_null());
    }
    let found = estate.run(["search", "churn"]).json(0);
    assert!(!found.to_string().contains("90 days"), "{found}");
}

#[test]
fn listing_does_not_create_a_store() {
    let estate = Estate::new("databases:\n- path: orders.csv\n").with("orders.csv", "order_id,total\n1,9.50\n");
    assert_eq!(estate.run(["facts", "list"]).json(0), json!([]));
    assert!(!estate.state().join("facts.sqlite").exists());
}
