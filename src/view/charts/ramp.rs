use crate::format;

/// Number of shades for counts above zero; zero has its own.
const SHADES: u64 = 5;

/// Maps counts to shades 1 to 5. The bounds grow with a power, so that a few large counts do not make all others pale.
pub struct Ramp {
    max: u64,
    power: u32,
}

impl Ramp {
    /// A higher power reserves more shades for small counts.
    pub fn new(values: impl Iterator<Item = u64>, power: u32) -> Self {
        Self { max: values.max().unwrap_or(0), power }
    }

    /// The largest count of a shade.
    fn bound(&self, shade: u64) -> u64 {
        let bound = u128::from(self.max) * u128::from(shade.pow(self.power)) / u128::from(SHADES.pow(self.power));
        u64::try_from(bound).unwrap_or(self.max)
    }

    pub fn shade(&self, value: u64) -> u64 {
        match value {
            0 => 0,
            _ => (1..SHADES).find(|shade| value <= self.bound(*shade)).unwrap_or(SHADES),
        }
    }

    /// Each used shade, with the range of counts in words.
    pub fn legend(&self) -> Vec<(u64, String)> {
        let ranges = (1..=SHADES).map(|shade| (shade, self.bound(shade - 1) + 1, self.bound(shade)));
        let text = |(shade, low, high): (u64, u64, u64)| match low == high {
            true => (shade, format::number(low)),
            false => (shade, format!("{}–{}", format::number(low), format::number(high))),
        };
        ranges.filter(|(_, low, high)| low <= high).map(text).collect()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use service::brand::Rgb;

    proptest! {
        #[test]
        fn larger_counts_are_not_paler_and_the_legend_says_which(max in 1..5_000_u64, power in 1..6_u32, values in proptest::collection::vec(0..1_000_u64, 1..9)) {
            let ramp = Ramp { max, power };
            let parts = |text: &str| {
                let mut bounds = text.split('–').map(|bound| bound.replace(',', "").parse::<u64>().unwrap());
                let low = bounds.next().unwrap();
                low..=bounds.next().unwrap_or(low)
            };
            for value in values.iter().map(|value| value * max / 999).chain([0, 1, max]) {
                let shade = ramp.shade(value);
                prop_assert!(shade <= ramp.shade(max) && (shade == 0) == (value == 0));
                let legend: Vec<u64> = ramp.legend().iter().filter(|(_, text)| parts(text).contains(&value)).map(|(shade, _)| *shade).collect();
                prop_assert_eq!(legend, if value == 0 { vec![] } else { vec![shade] });
            }
            prop_assert_eq!(ramp.shade(max), 5);
        }
    }

    #[test]
    fn the_largest_number_has_a_shade() {
        assert_eq!(Ramp { max: u64::MAX, power: 4 }.shade(u64::MAX), 5);
        assert!(Ramp::new([].into_iter(), 2).legend().is_empty());
    }

    #[test]
    fn the_text_on_each_shade_is_readable() {
        let style = include_str!("../assets/style.css");
        // Light and dark color of a variable.
        let colors = |name: &str| {
            let start = format!("  --{name}: light-dark(");
            let value = style.split_once(&start).unwrap_or_else(|| panic!("no {name}")).1.split_once(')').unwrap().0;
            let (light, dark) = value.split_once(", ").unwrap();
            [light, dark].map(|color| color.parse::<Rgb>().unwrap())
        };
        for shade in 0..=SHADES {
            let (fill, ink) = (colors(&format!("h{shade}")), colors(&format!("h{shade}-ink")));
            for theme in 0..2 {
                let contrast = fill[theme].contrast(ink[theme]);
                assert!(contrast >= 4.5, "shade {shade}, theme {theme}: {contrast}");
            }
        }
    }
}
