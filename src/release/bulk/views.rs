//! `views.sql`: the tables as DuckDB views, with an extra view for each list of objects.

use std::fmt::Write;

use crate::bulk::{BulkFormat, table_name};
use catalog::flat::{ColumnType, table_columns};
use data::Table;
use data::field::{Field, JsonType};

const HEAD: &str = "\
-- Views of DuckDB over the Parquet files next to this file. Run it in their folder: duckdb -init views.sql
-- Lists of objects are views of their own, with the key of their record: funding_rounds_investors has a row for each
-- investor of each round.
";

pub(super) fn sql() -> String {
    let mut sql = HEAD.to_owned();
    for table in Table::ALL {
        add_table(&mut sql, table).expect("a text takes every text");
    }
    sql
}

fn add_table(sql: &mut String, table: Table) -> std::fmt::Result {
    let name = table_name(table).replace('-', "_");
    let file = BulkFormat::Parquet.file_name(table);
    writeln!(sql, "\nCREATE OR REPLACE VIEW {name} AS\n  FROM read_parquet('{file}');")?;
    let key = table.key();
    for column in table_columns(table).iter().filter(|column| column.kind == ColumnType::Json) {
        let list = &column.name;
        let types: Vec<String> =
            column.field.nested().iter().map(|field| format!("\"{}\":\"{}\"", field.name, sql_type(field))).collect();
        write!(
            sql,
            "CREATE OR REPLACE VIEW {name}_{list} AS\n  SELECT {key} AS {name}_{key}, unnest(from_json({list}, \
             '[{{{}}}]'), recursive := true)\n  FROM {name};\n",
            types.join(",")
        )?;
    }
    Ok(())
}

const fn sql_type(field: &Field) -> &'static str {
    match field.json {
        JsonType::Integer | JsonType::Long | JsonType::Signed => "BIGINT",
        JsonType::Number => "DOUBLE",
        JsonType::Boolean => "BOOLEAN",
        JsonType::Date => "DATE",
        JsonType::Text | JsonType::PartialDate => "VARCHAR",
        JsonType::List(_) | JsonType::Map(_) | JsonType::Object(_) | JsonType::Record => "JSON",
    }
}
