/// What a driver reports. None of the cases carries a value of a row.
public enum SQLFault: Error, Hashable, Sendable {
    /// The database cannot be used now; nothing was written.
    case unavailable(reason: String)
    /// The database does not let this program in, or the program cannot speak to it, and waiting changes nothing: settings or the
    /// machine have to. Nothing was written.
    case misconfigured(reason: String)
    /// What is on the disk is not what the engine wrote, or no database at all: only a backup helps. The reason is the engine's name for it.
    case damaged(reason: String)
    /// The connection broke during the commit: the write may or may not have happened.
    case outcomeUnknown
    /// A unique constraint refused the write.
    case duplicate
    /// The database was written by a newer version of this program.
    case newerSchema(found: Int, known: Int)
    /// The database was written by an older version of this program, and whoever asks may not change its schema.
    case olderSchema(found: Int, known: Int)
    /// The database was made by a development version before the first release; there is no upgrade from it.
    case unreleasedSchema
    /// A value has a character or a length that the engine cannot keep; nothing was written.
    case unstorable
    /// Another process has the database open.
    case lockedByAnotherProcess(path: String)
    /// A statement returned another type than the code expects: a defect.
    case unexpectedColumn(Int)
    /// The engine refused a statement: a defect.
    case refused(code: Int, reason: String)
}
