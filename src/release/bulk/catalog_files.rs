//! Catalog descriptions of the bulk files: Croissant 1.0 (MLCommons) and DCAT 3 (W3C), both JSON-LD.

use serde_json::{Value, json};

use crate::bulk::package::{Package, foreign_keys, license_url, pretty, table_description};
use crate::bulk::{BulkFormat, table_name};
use catalog::flat::{ColumnType, FlatColumn, table_columns};
use data::Table;

impl Package<'_> {
    pub(super) fn croissant(&self) -> Vec<u8> {
        let snapshot = self.snapshot;
        let files = self.files.iter().map(|file| {
            json!({
                "@type": "cr:FileObject",
                "@id": file.path(),
                "name": file.path(),
                "description": table_description(file.table),
                "contentUrl": file.path(),
                "contentSize": format!("{} B", file.bytes),
                "encodingFormat": file.format.names()[1],
                "sha256": file.sha256.to_string(),
            })
        });
        pretty(&json!({
            "@context": croissant_context(),
            "@type": "sc:Dataset",
            "conformsTo": "http://mlcommons.org/croissant/1.0",
            "name": "venturedex",
            "alternateName": snapshot.title(),
            "description": format!("{}. {}", snapshot.title(), snapshot.source()),
            "license": license_url(snapshot.license()).unwrap_or_else(|| snapshot.license().to_owned()),
            "url": "datapackage.json",
            "version": snapshot.version().to_string(),
            "datePublished": snapshot.released_on().to_string(),
            "isBasedOn": snapshot.sources().iter().filter_map(|source| source.url.clone()).collect::<Vec<_>>(),
            "distribution": files.collect::<Vec<_>>(),
            "recordSet": Table::ALL.map(record_set),
        }))
    }

    pub(super) fn dcat(&self) -> Vec<u8> {
        let snapshot = self.snapshot;
        let media_type = |name: &str| json!({ "@id": format!("https://www.iana.org/assignments/media-types/{name}") });
        let files = self.files.iter().map(|file| {
            let [_, outer, inner] = file.format.names();
            let mut json = json!({
                "@type": "dcat:Distribution",
                "dct:title": file.path(),
                "dct:description": table_description(file.table),
                "dcat:downloadURL": { "@id": file.path() },
                "dcat:mediaType": media_type(inner),
                "dcat:byteSize": { "@type": "xsd:nonNegativeInteger", "@value": file.bytes.to_string() },
                "spdx:checksum": {
                    "@type": "spdx:Checksum",
                    "spdx:algorithm": { "@id": "spdx:checksumAlgorithm_sha256" },
                    "spdx:checksumValue": { "@type": "xsd:hexBinary", "@value": file.sha256.to_string() },
                },
            });
            if outer != inner {
                json["dcat:compressFormat"] = media_type(outer);
            }
            json
        });
        let sources = snapshot.sources().iter().map(|source| {
            let mut json = json!({
                "dct:identifier": source.id,
                "dct:title": source.title.as_deref().unwrap_or(&source.id),
            });
            add_rights(&mut json, &source.license);
            if let Some(url) = &source.url {
                json["@id"] = url.as_str().into();
            }
            json
        });
        let mut json = json!({
            "@context": {
                "dcat": "http://www.w3.org/ns/dcat#",
                "dct": "http://purl.org/dc/terms/",
                "prov": "http://www.w3.org/ns/prov#",
                "spdx": "http://spdx.org/rdf/terms#",
                "xsd": "http://www.w3.org/2001/XMLSchema#",
            },
            "@type": "dcat:Dataset",
            "dct:identifier": format!("venturedex-{}", snapshot.version()),
            "dct:title": snapshot.title(),
            "dct:description": snapshot.source(),
            "dct:issued": { "@type": "xsd:date", "@value": snapshot.released_on().to_string() },
            "dcat:version": snapshot.version().to_string(),
            "dct:source": sources.collect::<Vec<_>>(),
            "dcat:distribution": files.collect::<Vec<_>>(),
        });
        add_rights(&mut json, snapshot.license());
        pretty(&json)
    }
}

/// Adds a license with an address, or the text of one without.
fn add_rights(json: &mut Value, license: &str) {
    match license_url(license) {
        Some(url) => json["dct:license"] = json!({ "@id": url }),
        None => json["dct:rights"] = json!({ "dct:description": license }),
    }
}

/// The rows of a table, read from its Parquet file.
fn record_set(table: Table) -> Value {
    let name = table_name(table);
    json!({
        "@type": "cr:RecordSet",
        "@id": name,
        "name": name,
        "description": table_description(table),
        "key": { "@id": format!("{name}/{}", table.key()) },
        "field": table_columns(table).iter().map(|column| field(table, column)).collect::<Vec<_>>(),
    })
}

fn field(table: Table, column: &FlatColumn) -> Value {
    let data_type = match column.kind {
        ColumnType::Text | ColumnType::Precision | ColumnType::Texts | ColumnType::Json => "sc:Text",
        ColumnType::Integer => "sc:Integer",
        ColumnType::Number => "sc:Float",
        ColumnType::Boolean => "sc:Boolean",
        ColumnType::Date => "sc:Date",
    };
    let id = format!("{}/{}", table_name(table), column.name);
    let mut json = json!({
        "@type": "cr:Field",
        "@id": id,
        "name": id,
        "description": column.description,
        "dataType": data_type,
        "source": {
            "fileObject": { "@id": BulkFormat::Parquet.file_name(table) },
            "extract": { "column": column.name },
        },
    });
    if column.kind == ColumnType::Texts {
        json["repeated"] = true.into();
    }
    if let Some((_, other)) = foreign_keys(table).iter().find(|(name, _)| *name == column.name) {
        json["references"] = json!({ "field": { "@id": format!("{}/{}", table_name(*other), other.key()) } });
    }
    json
}

/// The context required by Croissant 1.0.
fn croissant_context() -> Value {
    const OWN_TERMS: &str = "citeAs column extract field fileProperty fileObject fileSet format includes isLiveDataset \
        jsonPath key md5 parentField path recordSet references regex repeated replace separator source subField transform";
    let mut context = json!({
        "@language": "en",
        "@vocab": "https://schema.org/",
        "conformsTo": "dct:conformsTo",
        "cr": "http://mlcommons.org/croissant/",
        "rai": "http://mlcommons.org/croissant/RAI/",
        "data": { "@id": "cr:data", "@type": "@json" },
        "dataType": { "@id": "cr:dataType", "@type": "@vocab" },
        "dct": "http://purl.org/dc/terms/",
        "examples": { "@id": "cr:examples", "@type": "@json" },
        "sc": "https://schema.org/",
    });
    for term in OWN_TERMS.split(' ') {
        context[term] = format!("cr:{term}").into();
    }
    context
}
