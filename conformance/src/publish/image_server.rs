//! A server of pictures for posts.

use std::{
    io::{BufRead, BufReader, Write},
    net::{TcpListener, TcpStream},
    thread,
};

use anyhow::Result;
use base64::{Engine, prelude::BASE64_STANDARD};

/// A square of eight red pixels a side, PNG.
const PICTURE: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAgAAAAICAIAAABLbSncAAAAEUlEQVR42mM4oaGBFTEMLQkAgl1GARdiiXUAAAAASUVORK5CYII=";

/// Begins to serve until this program ends; host and port.
pub(super) fn serve() -> Result<String> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let address = listener.local_addr()?.to_string();
    let picture = BASE64_STANDARD.decode(PICTURE)?;
    thread::spawn(move || {
        for client in listener.incoming().map_while(Result::ok) {
            // whoever goes away early has not asked for it
            drop(answer(client, &picture));
        }
    });
    Ok(address)
}

fn answer(mut client: TcpStream, picture: &[u8]) -> Result<()> {
    for line in BufReader::new(&client).lines() {
        if line?.is_empty() {
            break;
        }
    }
    let head = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: image/png\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        picture.len()
    );
    client.write_all(head.as_bytes())?;
    Ok(client.write_all(picture)?)
}
