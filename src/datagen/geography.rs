//! Regions, countries and their cities.

use once_cell::sync::Lazy;

use crate::datagen::culture::culture;
use crate::datagen::random::Random;

/// Parts of the world that firms keep to.
pub(crate) const REGIONS: [&str; 8] =
    ["North America", "Latin America", "Europe", "the Middle East", "Africa", "South Asia", "East Asia", "Oceania"];

/// A country that firms and startups come from.
#[derive(Debug)]
pub(crate) struct City {
    /// ISO 3166-1 alpha-2.
    pub(crate) code: &'static str,
    /// Place in [`REGIONS`].
    pub(crate) region: usize,
    /// How often startups come from it.
    weight: u32,
    /// Place in `CULTURES`.
    pub(crate) culture: usize,
    /// How companies end there, such as `GmbH`.
    pub(crate) legal: &'static str,
    /// Larger cities first.
    pub(crate) cities: Vec<&'static str>,
}

/// `code region weight culture legal form | cities`
const TABLE: &str = "\
US 0 330 en Inc.|San Francisco;New York;Boston;Austin;Los Angeles;Seattle;Chicago;Denver;Atlanta;Miami;Raleigh;Pittsburgh;Portland;Salt Lake City;Minneapolis;Boise
CA 0 40 en Inc.|Toronto;Vancouver;Montréal;Waterloo;Calgary;Ottawa;Québec;Halifax
GB 2 80 en Ltd|London;Cambridge;Manchester;Edinburgh;Bristol;Oxford;Leeds;Belfast;Cardiff
IE 2 9 en Ltd|Dublin;Cork;Galway;Limerick
AU 7 22 en Pty Ltd|Sydney;Melbourne;Brisbane;Perth;Adelaide;Hobart
NZ 7 7 en Ltd|Auckland;Wellington;Christchurch;Dunedin
DE 2 60 de GmbH|Berlin;München;Hamburg;Köln;Frankfurt am Main;Stuttgart;Leipzig;Düsseldorf;Karlsruhe;Münster
AT 2 8 de GmbH|Wien;Graz;Linz;Innsbruck
CH 2 16 de AG|Zürich;Lausanne;Genève;Basel;Bern;St. Gallen;Lugano
FR 2 50 fr SAS|Paris;Lyon;Toulouse;Nantes;Bordeaux;Lille;Grenoble;Montpellier;Saint-Étienne
BE 2 10 fr SA|Bruxelles;Antwerpen;Gent;Leuven;Liège
LU 2 3 fr SA|Luxembourg;Esch-sur-Alzette
NL 2 22 nl B.V.|Amsterdam;Rotterdam;Utrecht;Eindhoven;Delft;Groningen;'s-Hertogenbosch
SE 2 22 nordic AB|Stockholm;Göteborg;Malmö;Uppsala;Linköping;Umeå
NO 2 10 nordic AS|Oslo;Bergen;Trondheim;Tromsø;Ålesund
DK 2 11 nordic ApS|København;Aarhus;Odense;Aalborg
IS 2 2 nordic ehf.|Reykjavík;Akureyri
FI 2 11 fi Oy|Helsinki;Espoo;Tampere;Oulu;Turku;Jyväskylä
EE 2 5 baltic OÜ|Tallinn;Tartu;Pärnu
LV 2 2 baltic SIA|Rīga;Liepāja
LT 2 4 baltic UAB|Vilnius;Kaunas;Klaipėda
PL 2 15 pl sp. z o.o.|Warszawa;Kraków;Wrocław;Gdańsk;Poznań;Łódź;Katowice
CZ 2 8 cs s.r.o.|Praha;Brno;Ostrava;Plzeň;Olomouc
SK 2 3 cs s.r.o.|Bratislava;Košice;Žilina
HU 2 5 hu Kft.|Budapest;Szeged;Debrecen;Győr
RO 2 6 ro SRL|București;Cluj-Napoca;Timișoara;Iași;Brașov
BG 2 4 bg OOD|София;Plovdiv;Varna
UA 2 8 uk LLC|Kyiv;Lviv;Kharkiv;Odesa;Дніпро
KZ 6 3 ru LLP|Almaty;Astana;Shymkent
GR 2 7 el S.A.|Athens;Θεσσαλονίκη;Patras;Ioannina;Heraklion
CY 2 2 el Ltd|Nicosia;Limassol
IT 2 20 it S.r.l.|Milano;Roma;Torino;Bologna;Napoli;Padova;Trento
ES 2 22 es S.L.|Madrid;Barcelona;València;Málaga;Bilbao;A Coruña;Sevilla
PT 2 9 pt Lda.|Lisboa;Porto;Braga;Coimbra;Aveiro
TR 3 10 tr A.Ş.|İstanbul;Ankara;İzmir;Bursa;Eskişehir
IL 3 24 he Ltd.|Tel Aviv;Haifa;Jerusalem;Herzliya;Be'er Sheva;רמת גן
AE 3 10 ar FZ-LLC|Dubai;Abu Dhabi;Sharjah
SA 3 8 ar LLC|Riyadh;Jeddah;Dammam;الرياض
JO 3 2 ar LLC|Amman;Irbid
EG 4 7 ar S.A.E.|Cairo;Alexandria;القاهرة;Mansoura
MA 4 3 ar SARL|Casablanca;Rabat;Tangier
IR 3 4 fa PJS|Tehran;Isfahan;Shiraz;تهران
GE 2 4 ka LLC|Tbilisi;Kutaisi;Batumi;თბილისი
AM 2 4 hy LLC|Yerevan;Gyumri
IN 5 70 hi Pvt. Ltd.|Bengaluru;Mumbai;Delhi;Gurugram;Pune;Hyderabad;Jaipur;Ahmedabad;Indore;Kochi
LK 5 2 ta (Pvt) Ltd|Colombo;Jaffna;Kandy
BD 5 4 bn Ltd.|Dhaka;Chattogram;Sylhet;ঢাকা
SG 6 18 zh Pte. Ltd.|Singapore
CN 6 48 zh Co., Ltd.|Beijing;Shanghai;Shenzhen;Hangzhou;Guangzhou;Chengdu;Suzhou;Wuhan;Xi'an;南京
HK 6 9 zh Limited|Hong Kong;Kowloon
TW 6 8 zh Co., Ltd.|Taipei;Hsinchu;Taichung;Kaohsiung;臺南
JP 6 28 ja K.K.|Tokyo;Osaka;Kyoto;Fukuoka;Nagoya;Sapporo;Sendai;東京
KR 6 23 ko Co., Ltd.|Seoul;Busan;Daejeon;Pangyo;Incheon;서울
VN 6 8 vi JSC|Ho Chi Minh City;Hà Nội;Đà Nẵng;Cần Thơ
TH 6 5 th Co., Ltd.|Bangkok;Chiang Mai;Phuket;กรุงเทพฯ
ID 6 15 id PT|Jakarta;Bandung;Surabaya;Yogyakarta;Denpasar
MY 6 5 id Sdn. Bhd.|Kuala Lumpur;Penang;Johor Bahru;Cyberjaya
NG 4 11 yo Ltd|Lagos;Abuja;Ibadan;Enugu;Port Harcourt
GH 4 3 yo Ltd|Accra;Kumasi
KE 4 8 sw Ltd|Nairobi;Mombasa;Kisumu;Eldoret
TZ 4 2 sw Ltd|Dar es Salaam;Arusha
RW 4 1 sw Ltd|Kigali
ET 4 4 am PLC|Addis Ababa;Bahir Dar;አዲስ አበባ
ZA 4 7 en (Pty) Ltd|Cape Town;Johannesburg;Durban;Stellenbosch
BR 1 30 pt Ltda.|São Paulo;Rio de Janeiro;Belo Horizonte;Florianópolis;Curitiba;Recife;Porto Alegre;Brasília
MX 1 14 es S.A. de C.V.|Ciudad de México;Guadalajara;Monterrey;Mérida;Querétaro
AR 1 8 es S.A.|Buenos Aires;Córdoba;Rosario;Mendoza
CO 1 8 es S.A.S.|Bogotá;Medellín;Cali;Barranquilla
CL 1 6 es SpA|Santiago;Valparaíso;Concepción
PE 1 3 es S.A.C.|Lima;Arequipa
UY 1 2 es S.A.|Montevideo;Punta del Este
";

/// All countries of the invented world.
pub(crate) static PLACES: Lazy<Vec<City>> = Lazy::new(|| TABLE.lines().filter_map(place).collect());

fn place(line: &'static str) -> Option<City> {
    let (head, cities) = line.split_once('|')?;
    let mut words = head.splitn(5, ' ');
    Some(City {
        code: words.next()?,
        region: words.next()?.parse().ok()?,
        weight: words.next()?.parse().ok()?,
        culture: culture(words.next()?),
        legal: words.next()?,
        cities: cities.split(';').collect(),
    })
}

static WEIGHTS: Lazy<Vec<u32>> = Lazy::new(|| PLACES.iter().map(|place| place.weight).collect());

/// The place in [`PLACES`] of the country that is set for `row`, if one is.
pub(crate) fn set_place(codes: &[&str], row: u32) -> Option<usize> {
    let code = codes.get(row as usize)?;
    PLACES.iter().position(|place| place.code == *code)
}

/// Draws a country; the place in [`PLACES`].
pub(crate) fn draw_place(random: &mut Random) -> usize {
    random.weighted(&WEIGHTS)
}

impl City {
    /// Draws a city of the country, the larger ones more often.
    pub(crate) fn draw_city(&self, random: &mut Random) -> &'static str {
        self.cities.get(random.early(self.cities.len())).copied().unwrap_or("")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Country;
    use crate::datagen::culture::CULTURES;

    #[test]
    fn every_line_is_a_country_with_cities_and_a_culture() {
        assert_eq!(PLACES.len(), TABLE.lines().count());
        for (place, line) in PLACES.iter().zip(TABLE.lines()) {
            assert!(Country::from_alpha2(place.code).is_some(), "{line}");
            assert!(place.region < REGIONS.len(), "{line}");
            assert!(line.contains(&format!(" {} ", CULTURES[place.culture].tag)), "{line}");
            assert!(place.cities.iter().all(|city| !city.is_empty()), "{line}");
        }
        let regions = PLACES.iter().map(|place| place.region).collect::<std::collections::BTreeSet<_>>();
        assert_eq!(regions.len(), REGIONS.len());
    }
}
