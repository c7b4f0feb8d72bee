//! A browser with its cookies, which signs up, sends forms and creates keys.

use std::collections::BTreeMap;

use crate::support::harness::{Client, Reply, Server, agent, agent_without_redirects};
use crate::support::html::{Markup, parse, text_of};

pub const PASSWORD: &str = "seven quiet herons";

/// Stores its cookies and sends the origin of its forms.
pub struct Browser {
    pub base: String,
    pub agent: ureq::Agent,
    pub cookies: BTreeMap<String, String>,
}

impl Browser {
    pub fn at(server: &Server) -> Self {
        Self::based(&format!("http://{}", server.address))
    }

    pub fn based(base: &str) -> Self {
        let agent = agent_without_redirects();
        Self { base: base.to_owned(), agent, cookies: BTreeMap::new() }
    }

    pub fn send(&mut self, method: &str, path: &str, headers: &[(&str, &str)], form: &[(&str, &str)]) -> Reply {
        let body = form_urlencoded::Serializer::new(String::new()).extend_pairs(form).finish();
        self.send_body(method, path, headers, body)
    }

    fn send_body(&mut self, method: &str, path: &str, headers: &[(&str, &str)], body: String) -> Reply {
        let mut request = http::Request::builder().method(method).uri(format!("{}{path}", self.base));
        if !self.cookies.is_empty() {
            let pairs = self.cookies.iter().map(|(name, value)| format!("; {name}={value}")).collect::<String>();
            request = request.header("cookie", format!("other=1{pairs}"));
        }
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let mut response = self.agent.run(request.body(body).unwrap()).unwrap();
        for cookie in response.headers().get_all("set-cookie") {
            let (name, value) = cookie.to_str().unwrap().split(';').next().unwrap().split_once('=').unwrap();
            self.cookies.insert(name.to_owned(), value.to_owned());
            self.cookies.retain(|_, value| !value.is_empty());
        }
        let text = response.body_mut().read_to_string().unwrap();
        Reply { status: response.status().as_u16(), headers: response.headers().clone(), text }
    }

    pub fn get(&mut self, path: &str) -> Reply {
        let reply = self.send("GET", path, &[], &[]);
        if path != "/" {
            assert_eq!(reply.header("cache-control"), "no-store", "{path}");
        }
        reply
    }

    pub fn post(&mut self, path: &str, form: &[(&str, &str)]) -> Reply {
        let origin = self.base.clone();
        let headers = [
            ("content-type", "application/x-www-form-urlencoded"),
            ("sec-fetch-site", "same-origin"),
            ("origin", origin.as_str()),
        ];
        let reply = self.send("POST", path, &headers, form);
        if reply.header("content-type") != "application/problem+json" {
            assert_eq!(reply.header("cache-control"), "no-store", "{path}");
        }
        reply
    }

    /// Sends a form that may have a file, the field `file`.
    pub fn post_parts(&mut self, path: &str, parts: &[(&str, &str)]) -> Reply {
        let origin = self.base.clone();
        let part = |(name, value): &(&str, &str)| {
            let file = if *name == "file" { "; filename=\"list.csv\"\r\nContent-Type: text/csv" } else { "" };
            format!("--limit\r\nContent-Disposition: form-data; name=\"{name}\"{file}\r\n\r\n{value}\r\n")
        };
        let body = parts.iter().map(part).collect::<String>() + "--limit--\r\n";
        let headers = [("content-type", "multipart/form-data; boundary=limit"), ("origin", origin.as_str())];
        self.send_body("POST", path, &headers, body)
    }

    pub fn signed_up(server: &Server, email: &str) -> Self {
        let mut browser = Self::at(server);
        let reply = browser.post("/signup", &[("email", email), ("password", PASSWORD)]);
        assert_eq!((reply.status, reply.header("location")), (303, "/account"), "{}", reply.text);
        browser
    }

    /// Creates a key, and returns it with its number.
    pub fn create_key(&mut self, name: &str) -> (String, i64) {
        let reply = self.post("/account/keys", &[("name", name)]);
        assert_eq!(reply.status, 201, "{}", reply.text);
        let page = parse(&self.get("/account").text);
        let revoke = page.values("a[href^='/account/keys/'][href$='/revoke']", "href").pop().unwrap();
        (shown_key(&reply.text), revoke.split('/').nth(3).unwrap().parse().unwrap())
    }

    /// A client of the API with a key.
    pub fn client(&self, key: &str) -> Client {
        Client { base: self.base.clone(), key: Some(key.to_owned()), agent: agent() }
    }
}

/// The key on the page that shows it once.
pub fn shown_key(page: &str) -> String {
    text_of(parse(page).first("pre#key"))
}
