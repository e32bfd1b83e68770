//! Conversion of parsed statements to tables.

use prospector_core::Problem;
use sqlparser::ast::{
    AlterTableOperation, ColumnDef, ColumnOption, CommentObject, CreateTable, CreateTableLikeKind, CreateTableOptions,
    CreateView, DataType, Expr, ForeignKeyConstraint, IndexColumn, SqlOption, Statement, TableConstraint,
};

use super::name::{last_part, table_name};
use super::view;
use crate::display;
use crate::keys::{self, Names};
use crate::table::{Column, ColumnType, ForeignKey, Table};

/// The tables created so far.
#[derive(Default)]
pub(super) struct Schema {
    tables: Vec<Table>,
    names: Names,
    /// Statements that refer to tables not yet known, with their places.
    later: Vec<(Statement, String)>,
    problems: Vec<Problem>,
}

/// Something a statement refers to that is not known yet, as a clause.
#[derive(Debug, thiserror::Error)]
enum Unknown {
    #[error("it refers to the table {0}, which is not created")]
    Table(String),
    #[error("it copies the columns of the table {0}, which is not created")]
    Model(String),
    #[error("the columns of the {what} {name} cannot be determined from its query")]
    Query { what: &'static str, name: String },
}

impl Schema {
    /// Returns the number of tables, including postponed statements.
    pub(super) fn len(&self) -> usize {
        self.tables.len() + self.later.len()
    }

    pub(super) fn note(&mut self, problem: Problem) {
        self.problems.push(problem);
    }

    pub(super) fn add(&mut self, statement: Statement, place: &str) {
        if let Err(_unknown) = self.apply(&statement, place, false) {
            self.later.push((statement, place.to_owned()));
        }
    }

    /// Returns all tables after the last statement.
    pub(super) fn finish(mut self, place: &str) -> (Vec<Table>, Vec<Problem>) {
        // A view may be defined before the view it selects from.
        let mut last = false;
        while !self.later.is_empty() {
            let waiting = std::mem::take(&mut self.later);
            let before = waiting.len();
            for (statement, place) in waiting {
                match self.apply(&statement, &place, last) {
                    Ok(()) => {}
                    Err(unknown) if last => self.problems.push(Problem::warning(place, unknown.to_string())),
                    Err(_) => self.later.push((statement, place)),
                }
            }
            last = self.later.len() == before;
        }
        self.problems.extend(keys::resolve(&mut self.tables, place));
        (self.tables, self.problems)
    }

    fn find(&self, name: &str) -> Option<&Table> {
        self.names.find(name, name).map(|index| &self.tables[index])
    }

    fn find_mut(&mut self, name: &str) -> Result<&mut Table, Unknown> {
        match self.names.find(name, name) {
            Some(index) => Ok(&mut self.tables[index]),
            None => Err(Unknown::Table(name.to_owned())),
        }
    }

    fn insert(&mut self, table: Table, place: &str) {
        if self.names.contains(&table.name) {
            let reason = format!("the table {} is created more than once", table.name);
            self.problems.push(Problem::warning(place, reason).advise("the first definition is used"));
            return;
        }
        self.names.add(&table.name, self.tables.len());
        self.tables.push(table);
    }

    /// Applies a statement. On the last attempt, statements with unknown references are applied as far as possible.
    fn apply(&mut self, statement: &Statement, place: &str, last: bool) -> Result<(), Unknown> {
        match statement {
            Statement::CreateTable(table) => self.create_table(table, place, last),
            Statement::CreateView(view) => self.create_view(view, place, last),
            Statement::CreateVirtualTable { name, module_args, .. } => {
                let columns = module_args.iter().map(|name| Column {
                    name: name.value.clone(),
                    nullable: true,
                    ..Column::default()
                });
                let table = Table { name: table_name(name), columns: columns.collect(), ..Table::default() };
                if !table.columns.is_empty() {
                    self.insert(table, place);
                }
                Ok(())
            }
            Statement::AlterTable(alter) => {
                let table = self.find_mut(&table_name(&alter.name))?;
                alter.operations.iter().for_each(|operation| change(table, operation));
                Ok(())
            }
            Statement::Comment { object_type, object_name, comment, .. } => {
                let text = comment.clone().unwrap_or_default();
                match object_type {
                    CommentObject::Table | CommentObject::View | CommentObject::MaterializedView => {
                        self.find_mut(&table_name(object_name))?.description = text;
                    }
                    CommentObject::Column => {
                        let mut of_table = object_name.clone();
                        of_table.0.pop();
                        let table = self.find_mut(&table_name(&of_table))?;
                        if let Some(column) = find_column(table, &last_part(object_name)) {
                            column.description = text;
                        }
                    }
                    _ => {}
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn create_table(&mut self, create: &CreateTable, place: &str, last: bool) -> Result<(), Unknown> {
        let name = table_name(&create.name);
        // Temporary tables do not outlive the script.
        if create.temporary || name.starts_with('#') {
            return Ok(());
        }
        let mut table = Table { name, description: describe_options(&create.table_options), ..Table::default() };
        if let Some(comment) = &create.comment {
            table.description = comment.to_string();
        }
        let like = create.like.as_ref().map(|like| match like {
            CreateTableLikeKind::Parenthesized(like) | CreateTableLikeKind::Plain(like) => &like.name,
        });
        let models = like.into_iter().chain(&create.clone).chain(&create.partition_of);
        for model in models.chain(create.inherits.iter().flatten()) {
            let model = table_name(model);
            match self.find(&model) {
                Some(model) => table.columns.extend(model.columns.clone()),
                None if last && !create.columns.is_empty() => {}
                None => return Err(Unknown::Model(model)),
            }
        }
        for column in &create.columns {
            add_column(&mut table, column);
        }
        for constraint in &create.constraints {
            constrain(&mut table, constraint);
        }
        if let (Some(query), true) = (&create.query, table.columns.is_empty()) {
            table.columns = view::columns(query, |name| self.find(name), last)
                .filter(|columns| columns.iter().all(|column| !column.name.is_empty()))
                .ok_or_else(|| Unknown::Query { what: "table", name: table.name.clone() })?;
        }
        self.insert(table, place);
        Ok(())
    }

    fn create_view(&mut self, create: &CreateView, place: &str, last: bool) -> Result<(), Unknown> {
        let name = table_name(&create.name);
        if create.temporary {
            return Ok(());
        }
        let shown = view::columns(&create.query, |name| self.find(name), last);
        let undetermined = || Unknown::Query { what: "view", name: name.clone() };
        let mut columns = match shown {
            None if !last => return Err(undetermined()),
            Some(columns) if columns.len() == create.columns.len() => columns,
            _ if !create.columns.is_empty() => {
                vec![Column { nullable: true, ..Column::default() }; create.columns.len()]
            }
            Some(columns) if columns.iter().all(|column| !column.name.is_empty()) => columns,
            _ => return Err(undetermined()),
        };
        for (column, named) in columns.iter_mut().zip(&create.columns) {
            column.name.clone_from(&named.name.value);
            if let Some(data_type) = &named.data_type {
                set_type(column, data_type);
            }
            for option in named.options.iter().flat_map(|options| options.as_slice()) {
                describe_column(column, option);
            }
        }
        let description = create.comment.clone().unwrap_or_else(|| describe_options(&create.options));
        self.insert(Table { name, description, columns, is_view: true, ..Table::default() }, place);
        Ok(())
    }
}

fn change(table: &mut Table, operation: &AlterTableOperation) {
    match operation {
        AlterTableOperation::AddConstraint { constraint, .. } => constrain(table, constraint),
        AlterTableOperation::AddColumn { column_def, .. } if table.column(&column_def.name.value).is_none() => {
            add_column(table, column_def);
        }
        AlterTableOperation::DropColumn { column_names, .. } => {
            table.columns.retain(|column| !column_names.iter().any(|name| name.value == column.name));
        }
        AlterTableOperation::RenameColumn { old_column_name, new_column_name } => {
            if let Some(column) = find_column(table, &old_column_name.value) {
                column.name.clone_from(&new_column_name.value);
            }
        }
        _ => {}
    }
}

fn add_column(table: &mut Table, def: &ColumnDef) {
    let mut column = Column { name: def.name.value.clone(), nullable: true, ..Column::default() };
    set_type(&mut column, &def.data_type);
    for option in &def.options {
        match &option.option {
            ColumnOption::NotNull => column.nullable = false,
            ColumnOption::PrimaryKey(_) => {
                column.primary_key = true;
                column.nullable = false;
            }
            ColumnOption::ForeignKey(key) => {
                table.foreign_keys.push(foreign_key(key, vec![def.name.value.clone()]));
            }
            option => describe_column(&mut column, option),
        }
    }
    table.columns.push(column);
}

fn describe_column(column: &mut Column, option: &ColumnOption) {
    match option {
        ColumnOption::Comment(text) => column.description.clone_from(text),
        ColumnOption::Options(options) => column.description = description(options).unwrap_or_default(),
        _ => {}
    }
}

fn constrain(table: &mut Table, constraint: &TableConstraint) {
    match constraint {
        TableConstraint::PrimaryKey(key) => {
            for column in key.columns.iter().filter_map(index_column) {
                if let Some(column) = find_column(table, &column) {
                    column.primary_key = true;
                    column.nullable = false;
                }
            }
        }
        TableConstraint::ForeignKey(key) => {
            let columns = key.columns.iter().map(|column| column.value.clone()).collect();
            table.foreign_keys.push(foreign_key(key, columns));
        }
        _ => {}
    }
}

fn foreign_key(key: &ForeignKeyConstraint, columns: Vec<String>) -> ForeignKey {
    let references = key.referred_columns.iter().map(|column| column.value.clone()).collect();
    ForeignKey { columns, table: table_name(&key.foreign_table), references }
}

/// Returns the column of an index, which may have a prefix length: `name(10)`.
fn index_column(column: &IndexColumn) -> Option<String> {
    match &column.column.expr {
        Expr::Identifier(name) => Some(name.value.clone()),
        Expr::CompoundIdentifier(parts) => parts.last().map(|name| name.value.clone()),
        Expr::Function(function) => Some(last_part(&function.name)),
        _ => None,
    }
}

fn find_column<'t>(table: &'t mut Table, name: &str) -> Option<&'t mut Column> {
    let columns = &table.columns;
    let exact = columns.iter().position(|column| column.name == name);
    let index = exact.or_else(|| columns.iter().position(|column| column.name.eq_ignore_ascii_case(name)))?;
    table.columns.get_mut(index)
}

fn set_type(column: &mut Column, data_type: &DataType) {
    column.column_type = ColumnType::from_sql(&data_type.to_string());
    column.data_type = type_name(data_type);
}

fn type_name(data_type: &DataType) -> String {
    match data_type {
        DataType::Unspecified => String::new(),
        other => display::cut(&other.to_string()).to_owned(),
    }
}

fn describe_options(options: &CreateTableOptions) -> String {
    match options {
        CreateTableOptions::None => None,
        CreateTableOptions::With(options)
        | CreateTableOptions::Options(options)
        | CreateTableOptions::Plain(options)
        | CreateTableOptions::TableProperties(options) => description(options),
    }
    .unwrap_or_default()
}

/// Returns `COMMENT = 'x'` or `description = 'x'` of a list of options.
fn description(options: &[SqlOption]) -> Option<String> {
    options.iter().find_map(|option| match option {
        SqlOption::Comment(comment) => Some(comment.to_string()),
        SqlOption::KeyValue { key, value: Expr::Value(value) }
            if ["comment", "description"].iter().any(|word| key.value.eq_ignore_ascii_case(word)) =>
        {
            value.clone().into_string()
        }
        // Most dialects parse double-quoted text as a name.
        SqlOption::KeyValue { key, value: Expr::Identifier(text) } if key.value.eq_ignore_ascii_case("description") => {
            text.quote_style.map(|_| text.value.clone())
        }
        _ => None,
    })
}
