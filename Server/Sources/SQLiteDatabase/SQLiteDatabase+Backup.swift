import SQLStorage

extension SQLiteDatabase {
    /// Copies the database as it is at one moment into a new file (mode 0600), while servers and commands go on reading and writing.
    /// The file is complete and on disk when this returns, and needs no other beside it.
    ///
    /// Throws `SQLFault.unavailable`: when there is something of that name, or when it cannot be written.
    public func backUp(to path: String) async throws {
        // The engine fills a file that is empty; made here, nobody else can read it from the first moment on.
        try DatabaseFile.createNew(at: path)
        do {
            try await copy(into: path)
            try DatabaseFile.synchronize(path)
            try DatabaseFile.keepName(of: path)
        } catch {
            DatabaseFile.remove(path)
            throw error
        }
    }
}
