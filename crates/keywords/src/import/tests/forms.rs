//! Forms in which people's tools save the files: languages, encodings, comparisons, archives, lists.

use std::io::Write as _;

use flate2::{Compression, write::DeflateEncoder};

use super::{rows, text};
use crate::import::{FaultCode, Format, Import, Level, Refused, Row, Trend, VolumeRange};

fn only(file: &str, format: Format) -> Row {
    let mut all = rows(file.as_bytes(), format);
    assert_eq!(all.len(), 1, "{file}");
    all.remove(0)
}

#[test]
fn search_console_in_the_languages_of_accounts() {
    for header in [
        "Häufigste Suchanfragen,Klicks,Impressionen,CTR,Position",
        "Häufigste Suchanfragen,Klicks,Impressionen,Klickrate,Durchschnittliche Position",
        "Requêtes les plus fréquentes,Clics,Impressions,CTR,Position moyenne",
        "Consultas principales,Clics,Impresiones,CTR,Posición",
        "Principales consultas,Clics,Impresiones,CTR,Posición media",
        "Query principali,Clic,Impressioni,CTR,Posizione",
        "Principais consultas,Cliques,Impressões,CTR,Posição",
        "Populairste zoekopdrachten,Klikken,Vertoningen,CTR,Positie",
        "Najpopularniejsze zapytania,Kliknięcia,Wyświetlenia,CTR,Pozycja",
        "Vanligaste sökfrågorna,Klick,Visningar,Klickfrekvens,Genomsnittlig position",
        "Nejčastější dotazy,Kliknutí,Zobrazení,CTR,Průměrná pozice",
        "En popüler sorgular,Tıklama,Görüntüleme,CTR,Ortalama konum",
        "Популярные запросы,Клики,Показы,CTR,Позиция",
    ] {
        let row = only(
            &format!("{header}\na b,9,1.300,\"3,5\u{a0}%\",\"6,1\"\n"),
            Format::SearchConsole,
        );
        assert_eq!(
            (row.keyword.as_str(), row.clicks, row.impressions, row.position),
            ("a b", Some(9), Some(1300), Some(6.1)),
            "{header}"
        );
        assert_eq!(row.ctr, Some(0.035), "{header}");
    }
    for header in [
        "上位のクエリ,クリック数,表示回数,CTR,掲載順位",
        "인기 검색어,클릭수,노출수,클릭률,평균 게재순위",
        "热门查询,点击次数,展示次数,点击率,平均排名",
        "熱門查詢,點擊,曝光,點閱率,排名",
        "Query,Clicks,Impressions,Url CTR,Average position",
    ] {
        let row = only(
            &format!("{header}\na b,9,\"1,300\",3.5%,6.1\n"),
            Format::SearchConsole,
        );
        assert_eq!(
            (row.clicks, row.impressions, row.ctr, row.position),
            (Some(9), Some(1300), Some(0.035), Some(6.1)),
            "{header}"
        );
    }
    let pages = "Häufigste Seiten,Klicks,Impressionen,CTR,Position\nhttps://a.example/,1,2,50 %,1\n";
    assert!(matches!(Import::open(pages.as_bytes()), Err(Refused::NoHeader)));
}

#[test]
fn comparison_gives_the_newer_period() {
    for (header, cells) in [
        (
            "Top queries,Last 28 days Clicks,Previous 28 days Clicks,Last 28 days Impressions,Previous 28 days Impressions,\
             Last 28 days CTR,Previous 28 days CTR,Last 28 days Position,Previous 28 days Position",
            "a,5,3,100,80,5%,3.75%,4.5,6",
        ),
        (
            "Häufigste Suchanfragen,Letzte 3 Monate Klicks,Vorherige 3 Monate Klicks,Letzte 3 Monate Impressionen,\
             Vorherige 3 Monate Impressionen,Letzte 3 Monate CTR,Vorherige 3 Monate CTR,Letzte 3 Monate Position,\
             Vorherige 3 Monate Position",
            "a,5,3,100,80,5 %,\"3,75 %\",\"4,5\",6",
        ),
    ] {
        let row = only(&format!("{header}\n{cells}\n"), Format::SearchConsole);
        assert_eq!((row.clicks, row.impressions), (Some(5), Some(100)));
        assert_eq!((row.ctr, row.position), (Some(0.05), Some(4.5)));
    }
}

#[test]
fn keyword_planner_in_the_languages_of_accounts() {
    for (header, level) in [
        (
            "Keyword\tWährung\tDurchschnittl. Suchanfragen pro Monat\tVeränderung (drei Monate)\tWettbewerb\t\
             Wettbewerb (indexierter Wert)\tGebot oben auf der Seite (niedriger Bereich)\tGebot oben auf der Seite (oberer Bereich)",
            "Hoch",
        ),
        (
            "Mot clé\tDevise\tNombre moyen de recherches mensuelles\tÉvolution sur trois mois\tConcurrence\t\
             Concurrence (valeur indexée)\tEnchère de haut de page (fourchette basse)\tEnchère de haut de page (fourchette haute)",
            "Élevée",
        ),
        (
            "Palabra clave\tMoneda\tPromedio de búsquedas mensuales\tCambio en tres meses\tCompetencia\tCompetencia (valor indexado)\t\
             Puja por la parte superior de la página (intervalo bajo)\tPuja por la parte superior de la página (intervalo alto)",
            "Alta",
        ),
        (
            "Palavra-chave\tMoeda\tMédia de pesquisas mensais\tMudança em três meses\tConcorrência\tConcorrência (valor indexado)\t\
             Lance na parte superior da página (menores valores)\tLance na parte superior da página (maiores valores)",
            "Alta",
        ),
    ] {
        let row = only(
            &format!("x\ny\n{header}\nschreibtisch\tEUR\t1.000 – 10.000\t0 %\t{level}\t97\t0,38\t1,52\n"),
            Format::KeywordPlanner,
        );
        assert_eq!(
            row.volume_range,
            Some(VolumeRange {
                min: 1000,
                max: 10_000
            }),
            "{header}"
        );
        assert_eq!(
            (row.competition, row.competition_level),
            (Some(0.97), Some(Level::High))
        );
        assert_eq!((row.bid_low, row.bid_high), (Some(0.38), Some(1.52)));
        assert_eq!(row.currency, text("EUR"));
    }
    let japanese = "キーワード\t通貨\t月間平均検索ボリューム\t競合性\t競合性（インデックス値）\tページ上部に掲載された広告の入札単価（低額帯）\n\
        机\tJPY\t1万～10万\t高\t97\t120\n";
    let row = only(japanese, Format::KeywordPlanner);
    assert_eq!(
        (row.volume_range.map(|r| r.max), row.competition),
        (Some(100_000), Some(0.97))
    );
    let months = "Keyword\tDurchschnittl. Suchanfragen pro Monat\tWettbewerb\tSuchanfragen: Dez. 2025\tSuchanfragen: Jän. 2026\n\
        tisch\t500\tUnbekannt\t480\t520\n";
    let row = only(months, Format::KeywordPlanner);
    assert_eq!(row.search_volume, Some(500), "a volume with months is no bucket");
    assert!(
        matches!(row.trend, Some(Trend::Months(months)) if months.len() == 2 && months[1].month == "2026-01")
    );
}

#[test]
fn ahrefs_own_pages_are_not_semrush() {
    for file in [
        "Keyword,Country,Location,Volume,KD,CPC,Organic traffic,Paid traffic,Current position,Current URL\n\
         desk,us,United States,1300,22,0.89,40,0,3,https://example.com/x\n",
        "#\tKeyword\tVolume\tKeyword Difficulty\tCPC\tCurrent organic traffic\tPrevious position\tCurrent position\tCurrent URL\n\
         1\tdesk\t1300\t22\t0.89\t40\t9\t3\thttps://example.com/x\n",
        "#,Keyword,Position,Position History,Volume,URL,Difficulty,Traffic (desc),CPC\n\
         1,desk,3,,1300,https://example.com/x,22,40,0.89\n",
    ] {
        let row = only(file, Format::Ahrefs);
        assert_eq!(
            (row.search_volume, row.difficulty),
            (Some(1300), Some(22)),
            "{file}"
        );
        assert_eq!(
            (row.position, row.ranking_url),
            (Some(3.0), text("https://example.com/x"))
        );
    }
}

#[test]
fn lists_made_by_hand() {
    let plain = rows(
        b"standing desk\r\n\r\n\"desk, small\"\r\nb\xc3\xbcro",
        Format::KeywordList,
    );
    let texts: Vec<&str> = plain.iter().map(|row| row.keyword.as_str()).collect();
    assert_eq!(texts, ["standing desk", "desk, small", "büro"]);
    assert_eq!((plain[0].line, plain[2].line), (1, 4));
    let one = only("Keywords\nstanding desk\n", Format::KeywordList);
    assert_eq!(one.keyword, "standing desk");
    let own = "keyword,searchVolume,keywordDifficulty,intent,secondaryIntents,language,country,competitionLevel,rankingUrl\n\
        tisch,2400,31,commercial,informational,de,AT,low,https://a.example/\n";
    let row = only(own, Format::KeywordList);
    assert_eq!((row.search_volume, row.difficulty), (Some(2400), Some(31)));
    assert_eq!(
        (row.language, row.country, row.intents.len()),
        (text("de"), text("AT"), 2)
    );
    assert_eq!(
        (row.competition_level, row.ranking_url),
        (Some(Level::Low), text("https://a.example/"))
    );
    let row = only("Keyword;Volume\ntisch;1.300\n", Format::KeywordList);
    assert_eq!(row.search_volume, Some(1300));
    for none in [
        "a,b\nc,d\n",
        "{\"keyword\": 1}",
        "<html>\n",
        "Keyword,Notes\na,b\n",
        "desk\na,b\n",
    ] {
        assert!(
            matches!(Import::open(none.as_bytes()), Err(Refused::NoHeader)),
            "{none}"
        );
    }
}

#[test]
fn rows_may_end_before_their_empty_cells() {
    let file = "Keyword,Intent,Volume,Keyword Difficulty,CPC (USD)\ndesk,Commercial,1300\nchair\n,,,,\n";
    let short = rows(file.as_bytes(), Format::SemrushKeywords);
    assert_eq!((short[0].search_volume, short[0].difficulty), (Some(1300), None));
    assert_eq!(
        (short[1].keyword.as_str(), short[1].search_volume),
        ("chair", None)
    );
    let broken = "Top queries,Clicks,Impressions,CTR,Position\ndesk,1\n";
    let fault = Import::open(broken.as_bytes())
        .unwrap()
        .next()
        .unwrap()
        .unwrap_err();
    assert_eq!(
        fault.code,
        FaultCode::ColumnCount,
        "figures that are always there"
    );
}

/// An archive of these files, packed or stored in turn.
fn archive(files: &[(&str, &str)]) -> Vec<u8> {
    let (mut data, mut directory) = (Vec::new(), Vec::new());
    for (i, (name, content)) in files.iter().enumerate() {
        let mut packed = content.as_bytes().to_vec();
        if i % 2 == 0 {
            let mut encoder = DeflateEncoder::new(Vec::new(), Compression::default());
            encoder.write_all(content.as_bytes()).unwrap();
            packed = encoder.finish().unwrap();
        }
        let method = if i % 2 == 0 { 8_u16 } else { 0 };
        let sizes = [packed.len() as u32, content.len() as u32]
            .map(u32::to_le_bytes)
            .concat();
        let names = [(name.len() as u16).to_le_bytes(), [0; 2]].concat();
        let offset = (data.len() as u32).to_le_bytes();
        let middle = [&method.to_le_bytes()[..], &[0; 8], &sizes, &names].concat();
        data.extend([b"PK\x03\x04\x14\0\0\0", &middle[..], name.as_bytes(), &packed].concat());
        directory.extend(
            [
                b"PK\x01\x02\x14\0\x14\0\0\0",
                &middle[..],
                &[0; 10],
                &offset,
                name.as_bytes(),
            ]
            .concat(),
        );
    }
    let count = (files.len() as u16).to_le_bytes();
    let place = [directory.len() as u32, data.len() as u32]
        .map(u32::to_le_bytes)
        .concat();
    [
        &data[..],
        &directory,
        b"PK\x05\x06\0\0\0\0",
        &count,
        &count,
        &place,
        &[0; 2],
    ]
    .concat()
}

#[test]
fn queries_are_found_in_an_archive() {
    let file = archive(&[
        (
            "Diagramm.csv",
            "Datum,Klicks,Impressionen,CTR,Position\n2026-11-01,1,2,50 %,1\n",
        ),
        (
            "Seiten.csv",
            "Häufigste Seiten,Klicks,Impressionen,CTR,Position\nhttps://a.example/,1,2,50 %,1\n",
        ),
        (
            "Suchanfragen.csv",
            "Häufigste Suchanfragen,Klicks,Impressionen,CTR,Position\ntisch,1,2,50 %,1\n",
        ),
        ("Filter.csv", "Filter,Wert\nDatum,Letzte 3 Monate\n"),
    ]);
    assert_eq!(rows(&file, Format::SearchConsole)[0].keyword, "tisch");
    let workbook = archive(&[
        ("[Content_Types].xml", "<Types/>"),
        ("xl/workbook.xml", "<workbook/>"),
    ]);
    assert!(matches!(Import::open(workbook.as_slice()), Err(Refused::NotText)));
    for cut in (0..file.len()).step_by(7) {
        let _ = Import::open(&file[..cut]);
    }
}
