//! Times the import of a keyword file: `cargo run --release --example import_keywords [rows]`.
#![expect(clippy::print_stdout, reason = "a measurement is its output")]

use std::{fmt::Write as _, time::Instant};

use searchwright_keywords::import::Import;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let rows: usize = std::env::args().nth(1).map_or(Ok(500_000), |n| n.parse())?;
    let mut file = String::from(
        "Keyword,Intent,Volume,Trend,Keyword Difficulty,CPC (USD),Competitive Density,SERP Features,Number of Results\r\n",
    );
    for n in 0..rows {
        write!(
            file,
            "standing desk for room {n},\"Commercial, Transactional\",{},\"0.67,0.67,0.54,0.54,0.54,0.54,0.67,0.67,0.82,1.00,1.00,0.82\",{},2.53,1.00,\"Sitelinks, Reviews, Image pack\",412000000\r\n",
            n % 100_000,
            n % 100,
        )?;
    }
    let begin = Instant::now();
    let mut sound = 0;
    for row in Import::open(file.as_bytes())? {
        sound += usize::from(row.is_ok());
    }
    let seconds = begin.elapsed().as_secs_f64();
    println!(
        "{sound} rows of {} bytes in {seconds:.2} s: {:.0} rows/s",
        file.len(),
        sound as f64 / seconds
    );
    Ok(())
}
