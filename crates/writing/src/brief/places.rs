//! Names of places, by which a keyword is told to be about something nearby, however it is written.

/// Countries and large cities, as English and German write them.
const PLACES: &str = "Aachen|Aberdeen|Adelaide|Africa|Afrika|Albuquerque|Amsterdam|Arizona|Asia|Asien|Athens|Athen|Atlanta|Auckland|Augsburg|Austin|\
    Australia|Australien|Austria|Baltimore|Bangalore|Bangkok|Barcelona|Basel|Bavaria|Bayern|Beijing|Belfast|Belgien|Belgium|Bergen|Berlin|\
    Bern|Bielefeld|Birmingham|Bochum|Bonn|Boston|Brandenburg|Brasilien|Bratislava|Braunschweig|Brazil|Bremen|Brighton|Brisbane|Bristol|\
    Britain|Brooklyn|Brussels|Brüssel|Bucharest|Budapest|Buenos Aires|Cairo|Calgary|California|Cambridge|Canada|Canberra|Cape Town|Cardiff|\
    Charlotte|Chemnitz|Chennai|Chicago|China|Christchurch|Cincinnati|Cleveland|Colorado|Copenhagen|Cork|Dallas|Darmstadt|Delhi|Denmark|\
    Denver|Detroit|Deutschland|Dortmund|Dresden|Dubai|Dublin|Duisburg|Düsseldorf|Dänemark|Edinburgh|Edmonton|England|Erfurt|Essen|Europa|\
    Europe|Finland|Finnland|Florence|Florida|Florenz|France|Frankfurt|Frankfurt am Main|Frankreich|Freiburg|Geneva|Genf|Germany|Glasgow|Graz|\
    Greece|Griechenland|Göteborg|Göttingen|Halle|Hamburg|Hannover|Hanover|Heidelberg|Heilbronn|Helsinki|Hessen|Hong Kong|Houston|Hungary|\
    Indianapolis|India|Indien|Ingolstadt|Innsbruck|Ireland|Irland|Istanbul|Italien|Italy|Jakarta|Jena|Jerusalem|Johannesburg|Kanada|Karlsruhe|\
    Kassel|Kiel|Koblenz|Kopenhagen|Krakow|Köln|Cologne|Las Vegas|Lausanne|Leeds|Leicester|Leipzig|Lille|Linz|Lisbon|Lissabon|Liverpool|London|\
    Los Angeles|Lübeck|Luxembourg|Luxemburg|Luzern|Lyon|Madrid|Magdeburg|Mailand|Mainz|Manchester|Manhattan|Mannheim|Marseille|Melbourne|\
    Mexico|Mexico City|Mexiko|Miami|Milan|Minneapolis|Montreal|Moscow|Mumbai|Munich|München|Münster|Mönchengladbach|Nairobi|Naples|Nashville|\
    Netherlands|New Orleans|New York|New York City|New Zealand|Newcastle|Niederlande|Norway|Norwegen|Nottingham|Nuremberg|Nürnberg|Oakland|\
    Oldenburg|Osaka|Oslo|Osnabrück|Ottawa|Oxford|Paderborn|Paris|Perth|Philadelphia|Phoenix|Pittsburgh|Poland|Polen|Portland|Porto|Portugal|\
    Potsdam|Prag|Prague|Quebec|Queensland|Regensburg|Reykjavik|Rio de Janeiro|Rom|Rome|Rostock|Rotterdam|Saarbrücken|Sachsen|Sacramento|\
    Salzburg|San Antonio|San Diego|San Francisco|San Jose|Sao Paulo|Schottland|Schweden|Schweiz|Scotland|Seattle|Seoul|Seville|Shanghai|\
    Sheffield|Singapore|Singapur|Southampton|Spain|Spanien|St. Gallen|Stockholm|Strasbourg|Stuttgart|Sweden|Switzerland|Sydney|Taipei|\
    Tampa|Texas|The Hague|Tokyo|Toronto|Trier|Turin|Türkei|Turkey|Tübingen|Ulm|United Kingdom|Ungarn|USA|Utah|Utrecht|Valencia|Vancouver|\
    Venedig|Venice|Victoria|Vienna|Virginia|Wales|Warsaw|Warschau|Washington|Weimar|Wellington|Wien|Wiesbaden|Winnipeg|Winterthur|Wolfsburg|\
    Wuppertal|Würzburg|York|Zagreb|Zurich|Zürich|Österreich";
/// Most words of the name of a place.
const MAX_WORDS: usize = 3;

/// A keyword about something nearby.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Place {
    /// The thing that is sought.
    pub sought: String,
    /// Name of the place, as it is written.
    pub name: String,
}

/// Splits a keyword that ends with a place: `garden care in berlin`, `plumber berlin`.
///
/// A name behind `in` is a place, in languages in which only names have capital letters.
pub(super) fn split(topic: &str, only_names_are_capital: bool) -> Option<Place> {
    let words: Vec<&str> = topic.split(' ').collect();
    for length in (1..=MAX_WORDS.min(words.len().checked_sub(1)?)).rev() {
        let (before, place) = words.split_at(words.len() - length);
        let is_behind_in = before.last() == Some(&"in");
        let before = if is_behind_in {
            &before[..before.len() - 1]
        } else {
            before
        };
        let place = place.join(" ");
        // a name that the list has not, behind `in`
        let is_written = only_names_are_capital
            && is_behind_in
            && place.split(' ').all(|word| word.starts_with(char::is_uppercase));
        // a turkey is also a bird
        let is_known = |known: &&str| {
            known.to_lowercase() == place.to_lowercase()
                && (is_behind_in || !["Turkey", "China", "Essen", "Halle", "Rom"].contains(known))
        };
        let known = PLACES.split('|').find(is_known).map(str::to_owned);
        let found = known.or_else(|| is_written.then(|| place.clone()));
        if let Some(place) = found.filter(|_| !before.is_empty()) {
            return Some(Place {
                sought: before.join(" "),
                name: place,
            });
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::split;

    #[test]
    fn places_are_found_however_they_are_written() {
        for (topic, what, place) in [
            ("garden care in berlin", "garden care", "Berlin"),
            ("plumber new york", "plumber", "New York"),
            ("zahnarzt frankfurt am main", "zahnarzt", "Frankfurt am Main"),
            ("Umzug in München", "Umzug", "München"),
            ("bakery in Little Snoring", "bakery", "Little Snoring"),
            ("hotels in turkey", "hotels", "Turkey"),
        ] {
            let found = split(topic, topic != "Umzug in München").map(|found| (found.sought, found.name));
            assert_eq!(found, Some((what.to_owned(), place.to_owned())));
        }
        for topic in [
            "berlin",
            "in berlin",
            "tomatoes in pots",
            "roast turkey",
            "garden",
            "",
            "bone china",
        ] {
            assert_eq!(split(topic, true), None, "{topic}");
        }
    }
}
