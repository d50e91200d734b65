import SQLStorage

extension SQLiteDatabase {
    /// Copies the database as it is at one moment into a new file (mode 0600), while servers and commands go on reading and writing.
    /// The file is complete and on disk when this returns, and needs no other beside it. `reading` gets how many bytes of the
    /// database have been read, now and then.
    ///
    /// Throws `SQLFault.unavailable`: when there is something of that name, or when it cannot be written.
    public func backUp(
        to path: String, reading: @escaping @Sendable (_ bytes: Int64) -> Void = { _ in }
    ) async throws {
        // The engine fills a file that is empty; made here, nobody else can read it from the first moment on.
        try PrivateFile.createNew(at: path)
        do {
            try await copy(into: path, reading: reading)
            try PrivateFile.synchronize(path)
            try PrivateFile.keepName(of: path)
        } catch {
            PrivateFile.remove(path)
            throw error
        }
    }
}
