import SQLStorage

/// A made-up version of the program after this one. What its steps do is what upgrades have to be able to do.
public enum NextVersion {
    /// The migrator of that version.
    public static let migrator = SchemaMigrator(Migration.all + steps)

    /// Adds a column, fills it in pieces, and ends with a step that nodes of this version cannot live with.
    public static let steps = [addition] + pieces + [breach]

    /// What the column holds in each row once it is filled.
    public static let address = "platform || ':' || COALESCE(handle, '')"

    private static let first = Migration.all.count + 1

    /// Older nodes go on beside it: they write rows without the column.
    private static let addition = Migration(number: first, name: "addresses of devices") { dialect in
        "ALTER TABLE devices ADD COLUMN address \(dialect.text)"
    }

    /// The table may be large: each piece is a transaction of its own and locks a quarter of the rows, by ranges of the key.
    private static let pieces = zip(1..., bounds).map { number, range in
        Migration(number: first + number, name: "addresses of devices, piece \(number) of \(bounds.count)") { _ in
            """
            UPDATE devices SET address = \(address)
            WHERE slice_key BETWEEN \(range.lowerBound) AND \(range.upperBound) AND address IS NULL
            """
        }
    }

    private static let bounds: [ClosedRange<Int64>] = [
        .min + 1 ... -(1 << 62) - 1, -(1 << 62) ... -1, 0...(1 << 62) - 1, (1 << 62) ... .max,
    ]

    /// Statements of older programs name the old column, so it waits until their nodes have ended. It also fills in what they wrote
    /// since the pieces.
    private static let breach = Migration(number: last, name: "other name of the last job", oldestBeside: last) { _ in
        """
        UPDATE devices SET address = \(address) WHERE address IS NULL;
        ALTER TABLE hub_files RENAME COLUMN last_job TO last_job_number
        """
    }

    private static let last = first + bounds.count + 1
}
