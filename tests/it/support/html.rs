//! HTML as a browser reads it: a page is parsed once, and CSS selectors find what is in it.

use scraper::{ElementRef, Html, Selector};

/// Parses a page.
pub fn parse(page: &str) -> Html {
    Html::parse_document(page)
}

/// The text of an element, without blanks around it.
pub fn text_of(element: ElementRef<'_>) -> String {
    element.text().collect::<String>().trim().to_owned()
}

fn css(selector: &str) -> Selector {
    Selector::parse(selector).unwrap_or_else(|error| panic!("`{selector}` is no selector: {error}"))
}

/// A page or one of its elements. Elements are found in the order of the page.
pub trait Markup<'p>: Copy {
    /// The elements that match a CSS selector.
    fn all(self, selector: &str) -> Vec<ElementRef<'p>>;

    /// Its HTML, for messages.
    fn source(self) -> String;

    /// The first element that matches a selector, if there is one.
    fn find(self, selector: &str) -> Option<ElementRef<'p>> {
        self.all(selector).into_iter().next()
    }

    /// The first element that matches a selector.
    fn first(self, selector: &str) -> ElementRef<'p> {
        self.find(selector).unwrap_or_else(|| panic!("no {selector} in {}", self.source()))
    }

    /// The section whose heading has an id, if there is one.
    fn section(self, id: &str) -> Option<ElementRef<'p>> {
        self.find(&format!("section[aria-labelledby='{id}']"))
    }

    /// The texts of the elements that match a selector.
    fn texts(self, selector: &str) -> Vec<String> {
        self.all(selector).into_iter().map(text_of).collect()
    }

    /// The values of an attribute of the elements that match a selector and have it.
    fn values(self, selector: &str, attribute: &str) -> Vec<&'p str> {
        self.all(selector).into_iter().filter_map(|element| element.attr(attribute)).collect()
    }

    /// The addresses of all links.
    fn links(self) -> Vec<&'p str> {
        self.values("a", "href")
    }

    /// The texts of the cells of the table rows that match a selector, row by row.
    fn rows(self, selector: &str) -> Vec<Vec<String>> {
        let cells = css("th, td");
        self.all(selector).into_iter().map(|row| row.select(&cells).map(text_of).collect()).collect()
    }
}

impl<'p> Markup<'p> for &'p Html {
    fn all(self, selector: &str) -> Vec<ElementRef<'p>> {
        self.select(&css(selector)).collect()
    }

    fn source(self) -> String {
        self.html()
    }
}

impl<'p> Markup<'p> for ElementRef<'p> {
    fn all(self, selector: &str) -> Vec<ElementRef<'p>> {
        self.select(&css(selector)).collect()
    }

    fn source(self) -> String {
        self.html()
    }
}
