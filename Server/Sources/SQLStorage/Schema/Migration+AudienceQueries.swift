extension Migration {
    /// The compiled audience of a send. It is absent in sends to every record or to device tokens, in sends of an older program and in
    /// those that are over; a send that is dispatched without it is compiled when it is read.
    static let audienceQueries = Migration(number: 25, name: "compiled audiences") { dialect in
        "ALTER TABLE notifications ADD COLUMN audience_query \(dialect.text);"
    }
}
