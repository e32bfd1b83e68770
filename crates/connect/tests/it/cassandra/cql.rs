//! A fake single-node cluster that speaks version 4 of the CQL protocol, as far as a driver needs it to read tables.
//! <https://github.com/apache/cassandra/blob/trunk/doc/native_protocol_v4.spec>

use std::sync::{Arc, Mutex};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// The opcode of a response, and its body.
type Frame = (u8, Vec<u8>);

/// A type, by its protocol code.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Kind {
    Bigint = 2,
    Boolean = 4,
    Double = 7,
    Int = 9,
    Uuid = 12,
    Text = 13,
    Inet = 16,
    Date = 17,
    /// A map of texts to texts.
    Map = 33,
    /// A set of texts.
    Set = 34,
}

pub(crate) type Bytes = Option<Vec<u8>>;

/// A table with all its rows.
pub(crate) struct Table {
    pub(crate) name: &'static str,
    pub(crate) columns: Vec<(&'static str, Kind)>,
    pub(crate) rows: Vec<Vec<Bytes>>,
}

/// The fake cluster.
pub(crate) struct Cluster {
    pub(crate) tables: Vec<Table>,
    /// The accepted user name and password.
    pub(crate) password: Option<&'static str>,
    /// The executed statements with their values.
    pub(crate) asked: Mutex<Vec<(String, Vec<Bytes>)>>,
}

/// Maximum number of rows per page.
const PAGE: usize = 3;

pub(crate) fn text(text: &str) -> Bytes {
    Some(text.as_bytes().to_vec())
}

/// A collection of texts, in pairs for a map.
pub(crate) fn texts(items: &[&str], per_entry: usize) -> Bytes {
    let mut out = i32::try_from(items.len() / per_entry).unwrap().to_be_bytes().to_vec();
    items.iter().for_each(|item| bytes(&mut out, &text(item)));
    Some(out)
}

fn short(out: &mut Vec<u8>, text: &str) {
    out.extend(u16::try_from(text.len()).unwrap().to_be_bytes());
    out.extend(text.as_bytes());
}

fn bytes(out: &mut Vec<u8>, value: &Bytes) {
    match value {
        None => out.extend((-1i32).to_be_bytes()),
        Some(value) => {
            out.extend(i32::try_from(value.len()).unwrap().to_be_bytes());
            out.extend(value);
        }
    }
}

/// A reader of message bodies.
struct Body<'a>(&'a [u8]);

impl<'a> Body<'a> {
    fn take(&mut self, length: usize) -> &'a [u8] {
        let (taken, rest) = self.0.split_at(length);
        self.0 = rest;
        taken
    }

    fn int(&mut self) -> i32 {
        i32::from_be_bytes(self.take(4).try_into().unwrap())
    }

    fn half(&mut self) -> u16 {
        u16::from_be_bytes(self.take(2).try_into().unwrap())
    }

    fn value(&mut self) -> Bytes {
        let length = self.int();
        usize::try_from(length).ok().map(|length| self.take(length).to_vec())
    }
}

impl Cluster {
    /// Starts listening; returns the cluster and its address.
    pub(crate) async fn start(self) -> (Arc<Cluster>, String) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let cluster = Arc::new(self);
        let served = cluster.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(served.clone().serve(stream));
            }
        });
        (cluster, address)
    }

    async fn serve(self: Arc<Self>, mut stream: TcpStream) {
        loop {
            let mut header = [0; 9];
            if stream.read_exact(&mut header).await.is_err() {
                return;
            }
            let length = u32::from_be_bytes(header[5..9].try_into().unwrap()) as usize;
            let mut body = vec![0; length];
            if stream.read_exact(&mut body).await.is_err() {
                return;
            }
            let (code, answer) = self.answer(header[4], &body);
            let mut frame = vec![0x84, 0, header[2], header[3], code];
            frame.extend(u32::try_from(answer.len()).unwrap().to_be_bytes());
            frame.extend(answer);
            if stream.write_all(&frame).await.is_err() {
                return;
            }
        }
    }

    fn answer(&self, code: u8, body: &[u8]) -> Frame {
        let mut out = Vec::new();
        let mut body = Body(body);
        match code {
            // STARTUP
            1 if self.password.is_some() => {
                short(&mut out, "org.apache.cassandra.auth.PasswordAuthenticator");
                (3, out)
            }
            // STARTUP, REGISTER
            1 | 11 => (2, out),
            // OPTIONS
            5 => {
                out.extend(1u16.to_be_bytes());
                short(&mut out, "CQL_VERSION");
                out.extend(1u16.to_be_bytes());
                short(&mut out, "3.4.5");
                (6, out)
            }
            // AUTH_RESPONSE
            15 => match body.value() == self.password.map(|password| password.as_bytes().to_vec()) {
                true => {
                    bytes(&mut out, &None);
                    (16, out)
                }
                false => error(0x0100, "Provided username ada and/or password are incorrect"),
            },
            // QUERY
            7 => {
                let length = body.int() as usize;
                let cql = String::from_utf8(body.take(length).to_vec()).unwrap();
                self.rows(&cql, body)
            }
            // PREPARE; a statement is its own id.
            9 => {
                let length = body.int() as usize;
                let cql = String::from_utf8(body.take(length).to_vec()).unwrap();
                let (table, columns) = match self.named(&cql) {
                    Ok(found) => found,
                    Err(error) => return error,
                };
                out.extend(4i32.to_be_bytes());
                short(&mut out, &cql);
                let bound = bound(table, &cql);
                out.extend(1i32.to_be_bytes());
                out.extend(i32::try_from(bound.len()).unwrap().to_be_bytes());
                out.extend(0i32.to_be_bytes());
                specs(&mut out, &bound);
                out.extend(1i32.to_be_bytes());
                out.extend(i32::try_from(columns.len()).unwrap().to_be_bytes());
                specs(&mut out, &columns.iter().map(|at| table.columns[*at]).collect::<Vec<_>>());
                (8, out)
            }
            // EXECUTE
            10 => {
                let length = body.half() as usize;
                let cql = String::from_utf8(body.take(length).to_vec()).unwrap();
                self.rows(&cql, body)
            }
            other => error(0x000a, &format!("{other} is not known here")),
        }
    }

    /// Returns the table of a statement and the positions of the columns it reads.
    fn named(&self, cql: &str) -> Result<(&Table, Vec<usize>), Frame> {
        let plain = cql.replace('"', "");
        let rest = plain.strip_prefix("SELECT ").ok_or_else(|| error(0x2000, "only SELECT is known here"))?;
        let (columns, rest) = rest.split_once(" FROM ").unwrap();
        let name = rest.split_whitespace().next().unwrap();
        if name.ends_with("denied") {
            return Err(error(
                0x2100,
                "User ada has no SELECT permission on <table shop.denied> or any of its parents",
            ));
        }
        let table = self.tables.iter().find(|table| table.name == name);
        let table = table.ok_or_else(|| error(0x2200, &format!("unconfigured table {name}")))?;
        let at = |column: &str| table.columns.iter().position(|(name, _)| *name == column);
        let places = columns.split(", ").map(at).collect::<Option<Vec<_>>>();
        places
            .map(|places| (table, places))
            .ok_or_else(|| error(0x2200, &format!("Undefined column name in {columns}")))
    }

    fn rows(&self, cql: &str, mut body: Body<'_>) -> Frame {
        let (table, columns) = match self.named(cql) {
            Ok(found) => found,
            Err(error) => return error,
        };
        body.half();
        let flags = body.take(1)[0];
        let count = if flags & 1 != 0 { body.half() } else { 0 };
        let values: Vec<Bytes> = (0..count).map(|_| body.value()).collect();
        let size = if flags & 4 != 0 { usize::try_from(body.int()).unwrap() } else { usize::MAX };
        let state = if flags & 8 != 0 { body.value() } else { None };
        let start = state.map_or(0, |state| u32::from_be_bytes(state.try_into().unwrap()) as usize);
        self.asked.lock().unwrap().push((cql.to_owned(), values.clone()));
        let places: Vec<usize> = bound(table, cql)
            .iter()
            .map(|(name, _)| table.columns.iter().position(|(known, _)| known == name).unwrap())
            .collect();
        let meets = |row: &&Vec<Bytes>| places.iter().zip(&values).all(|(at, value)| row[*at] == *value);
        let limit = cql.rsplit_once(" LIMIT ").map_or(usize::MAX, |(_, limit)| limit.parse().unwrap());
        let found: Vec<&Vec<Bytes>> = table.rows.iter().filter(meets).take(limit).collect();
        let page: Vec<&&Vec<Bytes>> = found.iter().skip(start).take(size.min(PAGE)).collect();
        let end = start + page.len();
        let mut out = 2i32.to_be_bytes().to_vec();
        let has_more = end < found.len();
        out.extend(if has_more { 3i32 } else { 1 }.to_be_bytes());
        out.extend(i32::try_from(columns.len()).unwrap().to_be_bytes());
        if has_more {
            bytes(&mut out, &Some(u32::try_from(end).unwrap().to_be_bytes().to_vec()));
        }
        specs(&mut out, &columns.iter().map(|at| table.columns[*at]).collect::<Vec<_>>());
        out.extend(i32::try_from(page.len()).unwrap().to_be_bytes());
        for row in page {
            columns.iter().for_each(|at| bytes(&mut out, &row[*at]));
        }
        (8, out)
    }
}

/// Returns the columns compared with bound values.
fn bound(table: &Table, cql: &str) -> Vec<(&'static str, Kind)> {
    let plain = cql.replace('"', "");
    let clause = plain.split_once(" WHERE ").map_or("", |(_, clause)| clause);
    let names = clause.split(" AND ").filter_map(|part| part.split_once(" = ?")).map(|(name, _)| name.to_owned());
    names.filter_map(|name| table.columns.iter().find(|(known, _)| *known == name).copied()).collect()
}

fn specs(out: &mut Vec<u8>, columns: &[(&'static str, Kind)]) {
    short(out, "shop");
    short(out, "any");
    for (name, kind) in columns {
        short(out, name);
        out.extend((*kind as u16).to_be_bytes());
        let inner = match kind {
            Kind::Map => 2,
            Kind::Set => 1,
            _ => 0,
        };
        (0..inner).for_each(|_| out.extend((Kind::Text as u16).to_be_bytes()));
    }
}

fn error(code: i32, message: &str) -> Frame {
    let mut out = code.to_be_bytes().to_vec();
    short(&mut out, message);
    (0, out)
}
