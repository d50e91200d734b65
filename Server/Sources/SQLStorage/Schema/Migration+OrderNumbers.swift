extension Migration {
    /// What says whether a device was registered before a send began, whatever the clock shows.
    ///
    /// `order_number` takes the place of `created_at` in a row, so that a walk reads no further than it did. The moment of an older
    /// record stays there as its number: it is smaller than every number that is given from now on, and orders the record as before.
    /// `order_mark` is absent while a send waits for its time.
    static let orderNumbers = Migration(number: orderNumbersNumber, name: "order numbers", oldestBeside: orderNumbersNumber) {
        dialect in
        """
        \(dialect.orderNumbers)
        ALTER TABLE devices RENAME COLUMN created_at TO order_number;
        ALTER TABLE devices ADD COLUMN created_at \(dialect.integer);
        ALTER TABLE notifications ADD COLUMN order_mark \(dialect.integer);
        UPDATE notifications SET order_mark = due_at WHERE state IN ('accepted', 'dispatching');
        """
    }

    /// An older program would give no numbers.
    private static let orderNumbersNumber = 19
}
