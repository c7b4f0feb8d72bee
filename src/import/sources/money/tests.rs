use std::borrow::Cow;

use proptest::prelude::*;

use super::*;

/// Amounts of a column of dollars, read as an import does: once more if the evidence decides something.
fn column_of(cells: &[&str], form: AmountForm) -> Vec<Result<f64, String>> {
    let mut known = Notation::default();
    loop {
        let mut seen = Notation::default();
        let read = |text: &&str| {
            let cell = MoneyCell::read(text).ok_or("is not an amount of money")?;
            seen.add(&cell, &form);
            cell.amount(&form, &known).map(|(amount, _)| amount).map_err(Cow::into_owned)
        };
        let read = cells.iter().map(read).collect();
        if !seen.decides_more_than(&known) {
            return read;
        }
        known = seen;
    }
}

fn column(cells: &[&str]) -> Vec<Option<f64>> {
    column_of(cells, AmountForm::default()).into_iter().map(Result::ok).collect()
}

#[test]
fn amounts_are_read_as_people_write_them() {
    for (text, amount, currency) in [
        ("1500000", 1_500_000.0, None),
        ("1,500,000.50", 1_500_000.5, None),
        ("1.500.000,50", 1_500_000.5, None),
        ("1 500 000", 1_500_000.0, None),
        ("1,00,00,000", 10_000_000.0, None),
        ("$250,000", 250_000.0, Some("$")),
        ("2.0", 2.0, None),
        ("1.5e+06", 1_500_000.0, None),
        ("4E+05", 400_000.0, None),
        ("$1.5M", 1_500_000.0, Some("$")),
        ("$1.5 M USD", 1_500_000.0, Some("USD")),
        ("US$ 250k", 250_000.0, Some("USD")),
        ("€2 million", 2_000_000.0, Some("EUR")),
        ("EUR 2mn", 2_000_000.0, Some("EUR")),
        ("2bn GBP", 2_000_000_000.0, Some("GBP")),
        ("5 MLN", 5_000_000.0, None),
        ("1 million dollars", 1_000_000.0, Some("dollars")),
        ("12,5 Mio. €", 12_500_000.0, Some("EUR")),
        ("3,2 Mrd.", 3_200_000_000.0, None),
        ("900 Tsd.", 900_000.0, None),
        ("250 TEUR", 250_000.0, Some("EUR")),
        ("MEUR 2,5", 2_500_000.0, Some("EUR")),
        ("Mio. CHF 2,5", 2_500_000.0, Some("CHF")),
        ("750'000.-", 750_000.0, None),
        ("2’500’000.–", 2_500_000.0, None),
        ("500,-- €", 500.0, Some("EUR")),
        ("2.5 Cr", 25_000_000.0, None),
        ("₹ 80 lakh", 8_000_000.0, Some("INR")),
        ("Rs. 5 crore", 50_000_000.0, Some("rs")),
        ("1,5 mil millones", 1_500_000_000.0, None),
        ("2,5 milhões R$", 2_500_000.0, Some("BRL")),
        ("1,2 млрд ₽", 1_200_000_000.0, Some("RUB")),
        ("3,5 milliards d'euros", 3_500_000_000.0, Some("EUR")),
        ("US $2.5M", 2_500_000.0, Some("USD")),
        ("B$ 5", 5.0, Some("b$")),
        ("300万元", 3_000_000.0, Some("CNY")),
        ("美元 80 万元", 800_000.0, Some("USD")),
        ("美金 80 萬元", 800_000.0, Some("USD")),
        ("新台幣 3,200 萬元", 32_000_000.0, Some("TWD")),
        ("3,200 萬元", 32_000_000.0, Some("元")),
        ("1.5億円", 150_000_000.0, Some("JPY")),
    ] {
        let cell = MoneyCell::read(text).unwrap_or_else(|| panic!("{text} is not read"));
        let (found, sign) =
            cell.amount(&AmountForm::default(), &Notation::default()).unwrap_or_else(|error| panic!("{text} {error}"));
        let sign = sign.as_ref().map(|sign| match sign {
            Sign::Code(code) => code,
            Sign::Shared(sign, _) => *sign,
        });
        assert_eq!((found, sign), (amount, currency), "{text}");
    }
    for text in [
        "",
        "Indefinite",
        "1.2.3.4,5,6",
        "5x",
        "1e9",
        "$",
        "99999999999999999",
        "€5M USD",
        "M 5",
        "5 k M",
        "1-2-3",
        "5-10%",
    ] {
        assert_eq!(MoneyCell::read(text), None, "{text}");
    }
}

/// Amounts in the notations of many countries, each read alone.
#[test]
fn amounts_of_many_languages_are_read() {
    for (text, amount, currency) in [
        ("1’500’000", 1.5e6, None),
        ("CHF 1'500'000.50", 1_500_000.5, Some("CHF")),
        ("Fr. 250'000.-", 250e3, Some("CHF")),
        ("1,5 Mio. CHF", 1.5e6, Some("CHF")),
        ("1\u{202f}500\u{202f}000,00\u{a0}€", 1.5e6, Some("EUR")),
        ("1 500 000,00 €", 1.5e6, Some("EUR")),
        ("2,5 M€", 2.5e6, Some("EUR")),
        ("2,5 millions d'euros", 2.5e6, Some("EUR")),
        ("3 milliards d’euros", 3e9, Some("EUR")),
        ("1 mille €", 1e3, Some("EUR")),
        ("1.500.000 €", 1.5e6, Some("EUR")),
        ("12 Millionen Euro", 12e6, Some("EUR")),
        ("1,2 Milliarden €", 1.2e9, Some("EUR")),
        ("500 Tausend Euro", 500e3, Some("EUR")),
        ("12 Mio US-Dollar", 12e6, Some("USD")),
        ("1,00,000", 1e5, None),
        ("₹1,00,00,000", 1e7, Some("INR")),
        ("INR 12,50,000.50", 1_250_000.5, Some("INR")),
        ("₹2.5 crores", 25e6, Some("INR")),
        ("50 lakhs", 5e6, None),
        ("12.5 lac", 1.25e6, None),
        ("Rs 3 Cr", 30e6, Some("rs")),
        ("500万人民币", 5e6, Some("CNY")),
        ("5000万元人民币", 50e6, Some("CNY")),
        ("1.2亿美元", 120e6, Some("USD")),
        ("3千万美元", 30e6, Some("USD")),
        ("近亿", f64::NAN, None),
        ("约5000万美元", 50e6, Some("USD")),
        ("￥300万", 3e6, Some("￥")),
        ("10亿元", 1e9, Some("CNY")),
        ("3億円", 300e6, Some("JPY")),
        ("1億5000万円", 150e6, Some("JPY")),
        ("1億2,500万円", 125e6, Some("JPY")),
        ("2兆3000億円", 2.3e12, Some("JPY")),
        ("約10億円", 1e9, Some("JPY")),
        ("１，５００万円", 15e6, Some("JPY")),
        ("5百万ドル", 5e6, Some("USD")),
        ("1000万ドル", 10e6, Some("USD")),
        ("50억원", 5e9, Some("KRW")),
        ("50억 원", 5e9, Some("KRW")),
        ("1억 5000만원", 150e6, Some("KRW")),
        ("₩300만", 3e6, Some("KRW")),
        ("약 20억원", 2e9, Some("KRW")),
        ("100만 달러", 1e6, Some("USD")),
        ("5 млн руб.", 5e6, Some("RUB")),
        ("1,5 млрд рублей", 1.5e9, Some("RUB")),
        ("250 тыс. ₽", 250e3, Some("RUB")),
        ("$3,5 млн", 3.5e6, Some("$")),
        ("2 миллиона долларов", 2e6, Some("долларов")),
        ("около 5 млн", 5e6, None),
        ("10 млн грн", 10e6, Some("UAH")),
        ("5 mln zł", 5e6, Some("PLN")),
        ("1,2 mld zł", 1.2e9, Some("PLN")),
        ("250 tys. PLN", 250e3, Some("PLN")),
        ("5 milionów złotych", 5e6, Some("PLN")),
        ("2,5 millones de euros", 2.5e6, Some("EUR")),
        ("3 mil millones de dólares", 3e9, Some("de dólares")),
        ("US$ 2 millones", 2e6, Some("USD")),
        ("R$ 2,5 mi", 2.5e6, Some("BRL")),
        ("R$ 1,2 bi", 1.2e9, Some("BRL")),
        ("R$ 3 milhões", 3e6, Some("BRL")),
        ("4 mln di euro", 4e6, Some("EUR")),
        ("1,5 miliardi di euro", 1.5e9, Some("EUR")),
        ("2 milioni €", 2e6, Some("EUR")),
        ("€ 2,5 mln", 2.5e6, Some("EUR")),
        ("1,2 mld euro", 1.2e9, Some("EUR")),
        ("3 miljoen euro", 3e6, Some("EUR")),
        ("1,5 miljard", 1.5e9, None),
        ("25 mio. kr", 25e6, Some("kr")),
        ("25 mio. DKK", 25e6, Some("DKK")),
        ("1,2 mdr kr", 1.2e9, Some("kr")),
        ("50 mkr", 50e6, Some("kr")),
        ("50 MSEK", 50e6, Some("SEK")),
        ("30 MNOK", 30e6, Some("NOK")),
        ("2 milj. €", 2e6, Some("EUR")),
        ("3 miljoner kronor", 3e6, Some("SEK")),
        ("10 millió Ft", 10e6, Some("HUF")),
        ("5 milyon TL", 5e6, Some("TRY")),
        ("5 milyon $", 5e6, Some("$")),
        ("10 tỷ đồng", 10e9, Some("VND")),
        ("5 مليون", 5e6, None),
        ("٥٠٠٠٠", 50e3, None),
        ("~$2M", 2e6, Some("$")),
        ("~ 2M", 2e6, None),
        ("ca. 5 Mio. €", 5e6, Some("EUR")),
        ("approx. $1.5M", 1.5e6, Some("$")),
        ("about 3 million dollars", 3e6, Some("dollars")),
        ("c. £2m", 2e6, Some("GBP")),
        ("$10M+", 10e6, Some("$")),
        ("10+ million", 10e6, None),
        (">5M", 5e6, None),
        ("> €5M", 5e6, Some("EUR")),
        ("über 5 Mio. €", 5e6, Some("EUR")),
        ("more than $5M", 5e6, Some("$")),
        ("超1亿元", 100e6, Some("CNY")),
        ("1亿元以上", 100e6, Some("CNY")),
        ("A$5m", 5e6, Some("AUD")),
        ("C$5m", 5e6, Some("CAD")),
        ("HK$5m", 5e6, Some("HKD")),
        ("S$5m", 5e6, Some("SGD")),
        ("NZ$5m", 5e6, Some("NZD")),
        ("NT$500M", 500e6, Some("TWD")),
        ("MX$5m", 5e6, Some("MXN")),
        ("₪5M", 5e6, Some("ILS")),
        ("NIS 5M", 5e6, Some("ILS")),
        ("£5m", 5e6, Some("GBP")),
        ("5m GBP", 5e6, Some("GBP")),
        ("GBP5m", 5e6, Some("GBP")),
        ("EUR5.5m", 5.5e6, Some("EUR")),
        ("¥500M", 500e6, Some("¥")),
        ("₺5M", 5e6, Some("TRY")),
        ("₦5M", 5e6, Some("NGN")),
        ("5 mil. Kč", 5e6, Some("CZK")),
        ("2,5 mil. lei", 2.5e6, Some("RON")),
        ("R$ 600 mil", 600e3, Some("BRL")),
        ("600 mil reais", 600e3, Some("BRL")),
        ("250 mil euros", 250e3, Some("EUR")),
        ("R$ 1,5 mil milhões", 1.5e9, Some("BRL")),
        ("5 mila euro", 5e3, Some("EUR")),
        ("5 Kč", 5.0, Some("CZK")),
        ("R 5 million", f64::NAN, None),
        ("ZAR 5 million", 5e6, Some("ZAR")),
        ("AED 5M", 5e6, Some("AED")),
        ("5 million AED", 5e6, Some("AED")),
        ("USD 1.5bn", 1.5e9, Some("USD")),
        ("$1.5 trillion", 1.5e12, Some("$")),
        ("1_500_000", 1.5e6, None),
        ("$ 1 500 000", 1.5e6, Some("$")),
        ("5K", 5e3, None),
        ("250 k€", 250e3, Some("EUR")),
        ("250 k EUR", 250e3, Some("EUR")),
        ("(USD) 5M", f64::NAN, None),
        ("5 bananas", f64::NAN, None),
        ("five million", f64::NAN, None),
    ] {
        let cell = MoneyCell::read(text);
        if amount.is_nan() {
            assert_eq!(cell, None, "{text}");
            continue;
        }
        let cell = cell.unwrap_or_else(|| panic!("{text} is not read"));
        let (found, sign) =
            cell.amount(&AmountForm::default(), &Notation::default()).unwrap_or_else(|error| panic!("{text} {error}"));
        let sign = sign.as_ref().map(|sign| match sign {
            Sign::Code(code) => code,
            Sign::Shared(sign, _) => *sign,
        });
        assert!((found - amount).abs() < amount * 1e-9 && sign == currency, "{text}: {found} {sign:?}");
    }
}

#[test]
fn other_amounts_of_a_column_tell_what_mil_is() {
    assert_eq!(column(&["5 mil EUR", "5 mil"]), [None, None]);
    assert_eq!(column(&["2,4 mil. EUR", "30 mil. Kč"]), [Some(2.4e6), Some(30e6)]);
    assert_eq!(column(&["US$ 5 mil", "R$ 600 mil", "R$ 2 milhões"]), [Some(5e3), Some(600e3), Some(2e6)]);
    assert_eq!(column(&["5 mil", "R$ 600 mil", "30 mil. Kč"]), [None, Some(600e3), Some(30e6)]);
    // Letters whose lengths change with their case, so that positions differ although the lengths of the texts do not.
    assert_eq!(column(&["İİ mil€\u{212a} 5"]), [None]);
}

#[test]
fn an_amount_that_is_only_a_bound_is_one_end() {
    let form = |end| AmountForm { end, ..AmountForm::default() };
    for (text, plain, low, high) in [
        ("$10M+", Some(10e6), Some(10e6), None),
        ("from 250k", Some(250e3), Some(250e3), None),
        ("ab 250k", Some(250e3), Some(250e3), None),
        ("от 5 млн", Some(5e6), Some(5e6), None),
        ("up to $5M", None, None, Some(5e6)),
        ("<$5M", None, None, Some(5e6)),
        ("bis 5 Mio. €", None, None, Some(5e6)),
        ("до 5 млн", None, None, Some(5e6)),
        ("jusqu'à 5 M€", None, None, Some(5e6)),
        ("~$5M", Some(5e6), Some(5e6), Some(5e6)),
        ("-5000", None, None, None),
        ("($5,000)", None, None, None),
        ("-$5M", None, None, None),
        ("$-5M", None, None, None),
        ("−5000", None, None, None),
        ("5000-", None, None, None),
    ] {
        let read = |end| column_of(&[text], form(end)).remove(0).ok();
        assert_eq!((read(None), read(Some(End::Low)), read(Some(End::High))), (plain, low, high), "{text}");
    }
    assert!(column_of(&["(1,000)"], AmountForm::default())[0].as_ref().unwrap_err().contains("is negative"));
}

#[test]
fn a_number_of_two_meanings_is_read_by_the_others_of_its_column() {
    for (cells, amounts) in [
        // Nothing decides.
        (&["1.234", "12.345", "2.500"][..], &[None, None, None][..]),
        (&["1,234", "12,345"], &[None, None]),
        (&["1.234M", "5"], &[None, Some(5.0)]),
        (&["250.000", "1.500.000,00"], &[Some(250_000.0), Some(1_500_000.0)]),
        (&["250.000", "12,5 Mio."], &[Some(250_000.0), Some(12_500_000.0)]),
        (&["1.234M", "1,5M"], &[Some(1_234_000_000.0), Some(1_500_000.0)]),
        (&["250,000", "1.7M"], &[Some(250_000.0), Some(1_700_000.0)]),
        (&["250,000", "1,000,000"], &[Some(250_000.0), Some(1_000_000.0)]),
        (&["250,000", "$50,000"], &[Some(250_000.0), Some(50_000.0)]),
        // Both notations occur: only unambiguous numbers are read.
        (&["250.000", "1.500,00", "1,500.00"], &[None, Some(1_500.0), Some(1_500.0)]),
        // With a decimal point, `500.000` is no plausible amount of dollars: its digits may be grouped.
        (&["500.000", "1.7M"], &[None, Some(1_700_000.0)]),
        // Missing units.
        (&["1.5", "1,5", "120.5", "$0.75"], &[None, None, None, None]),
        // In millions 2,500 is too, as most of its column.
        (&["85.5", "120", "2500"], &[None, None, None]),
        (&["85.5", "2500", "120000"], &[None, Some(2_500.0), Some(120_000.0)]),
        (&["120", "2500", "950.00"], &[Some(120.0), Some(2_500.0), Some(950.0)]),
    ] {
        assert_eq!(column(cells), amounts, "{cells:?}");
        let reversed: Vec<&str> = cells.iter().rev().copied().collect();
        assert!(column(&reversed).iter().rev().eq(amounts), "{cells:?} in another order");
    }
}

#[test]
fn the_mapping_says_what_a_column_does_not_tell() {
    let by = |cells: &[&str], form: AmountForm| column_of(cells, form).into_iter().map(Result::ok).collect::<Vec<_>>();
    let comma = AmountForm { decimal: Some(Decimal::Comma), ..AmountForm::default() };
    let cells = ["1.234", "1,5M", "1.5M", "2000"];
    assert_eq!(by(&cells, comma), [Some(1_234.0), Some(1_500_000.0), None, Some(2_000.0)]);
    let point = AmountForm { decimal: Some(Decimal::Point), ..AmountForm::default() };
    assert_eq!(by(&cells, point), [None, None, Some(1_500_000.0), Some(2_000.0)]);
    let millions = AmountForm { unit: Some(1e6), ..AmountForm::default() };
    assert_eq!(by(&["120", "85.5", "1.2bn"], millions), [Some(120e6), Some(85.5e6), Some(1.2e9)]);
    let header = AmountForm { lacks_unit: true, ..AmountForm::default() };
    assert_eq!(by(&["120", "85.5", "1.2bn"], header), [None, None, Some(1.2e9)]);
    let errors: Vec<String> = column_of(&cells, comma).into_iter().filter_map(Result::err).collect();
    assert_eq!(errors, ["contradicts the decimal separator `,` of its column"]);
}

#[test]
fn the_ends_of_a_range_share_unit_and_currency() {
    let form = |end| AmountForm { end: Some(end), ..AmountForm::default() };
    for (text, low, high) in [
        ("0.5-2M", 500_000.0, 2_000_000.0),
        ("$1-2M", 1_000_000.0, 2_000_000.0),
        ("1-2 million", 1_000_000.0, 2_000_000.0),
        ("5 to 10 million", 5_000_000.0, 10_000_000.0),
        ("1 bis 2,5 Mio. €", 1_000_000.0, 2_500_000.0),
        ("250k – 1.5M", 250_000.0, 1_500_000.0),
        ("$250K - $2M", 250_000.0, 2_000_000.0),
        ("€250k – 1.5M", 250_000.0, 1_500_000.0),
        ("500,000 - 2,000,000", 500_000.0, 2_000_000.0),
        ("100000–2M", 100_000.0, 2_000_000.0),
        ("500.000 - 2.000.000", 500_000.0, 2_000_000.0),
        ("2M", 2_000_000.0, 2_000_000.0),
        ("€1-3m", 1e6, 3e6),
        ("zwischen 1 und 3 Mio. €", 1e6, 3e6),
        ("between $1M and $3M", 1e6, 3e6),
        ("entre 1 et 3 M€", 1e6, 3e6),
        ("entre 1 y 3 millones", 1e6, 3e6),
        ("tra 1 e 3 milioni", 1e6, 3e6),
        ("von 1 bis 3 Mio. €", 1e6, 3e6),
        ("от 1 до 3 млн", 1e6, 3e6),
        ("de 1 à 3 M€", 1e6, 3e6),
        ("od 1 do 3 mln zł", 1e6, 3e6),
        ("1–3 млн", 1e6, 3e6),
        ("1億〜3億円", 100e6, 300e6),
        ("1-3億円", 100e6, 300e6),
        ("1~3亿元", 100e6, 300e6),
        ("5000万〜1億円", 50e6, 100e6),
        ("1 lakh - 1 crore", 1e5, 1e7),
        ("USD 1M - USD 3M", 1e6, 3e6),
        ("$250k–$1.5m", 250e3, 1.5e6),
    ] {
        let read = |end| column_of(&[text], form(end)).remove(0);
        assert_eq!((read(End::Low), read(End::High)), (Ok(low), Ok(high)), "{text}");
    }
    let sign = MoneyCell::read("€250k – 1.5M").unwrap().amount(&form(End::High), &Notation::default()).unwrap().1;
    assert_eq!(sign, Some(Sign::Code("EUR".to_owned())));
    for (text, reason) in [
        ("2M - 500k", "first end is above the second"),
        ("250-2M", "first end is above the second"),
        ("$1M – €2M", "two currencies"),
        ("1500 - 2M", "one unit"),
        ("1.5 - 3", "lacks its unit"),
        ("5-10", "lacks its unit"),
        ("$0 - $2M", "begins at 0"),
        ("10-15%", "not an amount"),
        ("1M - open", "not an amount"),
    ] {
        let error = column_of(&[text], form(End::Low)).remove(0).unwrap_err();
        assert!(error.contains(reason), "{text}: {error}");
    }
    assert!(column_of(&["1-2M"], AmountForm::default()).remove(0).unwrap_err().contains("do = [\"min\"]"));
    assert_eq!(range_ends("2019 – 2021"), ("2019", "2021"));
}

/// Writes a number of cents in one of six notations, the last that of India.
fn written(cents: u64, notation: usize, has_cents: bool) -> String {
    let digits = (cents / 100).to_string();
    let groups = |separator: &str| {
        let mut grouped = String::new();
        for (at, digit) in digits.chars().enumerate() {
            let behind = digits.len() - at;
            let is_start = if notation == 5 {
                behind == 3 || (behind > 3 && !behind.is_multiple_of(2))
            } else {
                behind.is_multiple_of(3)
            };
            if at > 0 && is_start {
                grouped.push_str(separator);
            }
            grouped.push(digit);
        }
        grouped
    };
    let (whole, separator) = match notation {
        0 | 5 => (groups(","), "."),
        1 => (groups("."), ","),
        2 => (groups("'"), "."),
        3 => (groups("\u{a0}"), ","),
        _ => (digits.clone(), "."),
    };
    if has_cents { format!("{whole}{separator}{:02}", cents % 100) } else { whole }
}

proptest! {
    /// A cell is read as the written number or not at all.
    #[test]
    fn no_amount_is_read_as_another(
        amounts in proptest::collection::vec((0..100_000_000_000_u64, any::<bool>(), 0..4_usize), 1..12),
        notation in 0..5_usize,
    ) {
        const UNITS: [(&str, f64); 4] = [("", 1.0), ("k", 1e3), (" Mio.", 1e6), ("M", 1e6)];
        let cells: Vec<String> = amounts.iter()
            .map(|(cents, has_cents, unit)| format!("{}{}", written(*cents, notation, *has_cents), UNITS[*unit].0)).collect();
        let read = column(&cells.iter().map(String::as_str).collect::<Vec<_>>());
        for ((cents, has_cents, unit), (cell, read)) in amounts.iter().zip(cells.iter().zip(read)) {
            let meant = if *has_cents { *cents as f64 / 100.0 } else { (*cents / 100) as f64 } * UNITS[*unit].1;
            if let Some(read) = read {
                prop_assert!((read - meant).abs() <= meant * 1e-12, "{cell} of {cells:?}: {read}, not {meant}");
            }
        }
    }

    /// One number with groups and a fraction decides the whole column, except for amounts without their unit.
    #[test]
    fn one_number_explains_its_column(
        amounts in proptest::collection::vec((100_000..100_000_000_000_u64, any::<bool>()), 1..12),
        notation in 0..6_usize,
    ) {
        let mut cells: Vec<String> =
            amounts.iter().map(|(cents, has_cents)| written(*cents, notation, *has_cents)).collect();
        cells.push(written(123_456_750, notation, true));
        let read = column(&cells.iter().map(String::as_str).collect::<Vec<_>>());
        let meant = amounts.iter().map(|(cents, has_cents)| Some(if *has_cents { *cents as f64 / 100.0 } else { (*cents / 100) as f64 }));
        prop_assert!(meant.eq(read[..amounts.len()].iter().copied()), "{cells:?}: {read:?}");
    }
}
