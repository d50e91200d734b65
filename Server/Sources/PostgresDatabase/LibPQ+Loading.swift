import SQLStorage

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

extension LibPQ {
    /// The library, opened at the first call. Throws `SQLFault.misconfigured` on a machine that does not have it.
    static func loaded() throws -> LibPQ { try opened.get() }

    private static let opened: Result<LibPQ, SQLFault> = {
        for name in names {
            guard let handle = dlopen(name, RTLD_NOW | RTLD_LOCAL) else { continue }
            do throws(SQLFault) { return .success(try LibPQ(Library(handle: handle))) } catch { return .failure(error) }
        }
        return .failure(
            .misconfigured(
                reason: "libpq_missing: the client library of PostgreSQL was not found; on Debian and Ubuntu: apt install libpq5")
        )
    }()

    #if os(Linux)
        private static let names = ["libpq.so.5"]
    #else
        private static let names = [
            "libpq.5.dylib", "/opt/homebrew/opt/libpq/lib/libpq.5.dylib", "/usr/local/opt/libpq/lib/libpq.5.dylib",
        ]
    #endif

    private struct Library {
        let handle: UnsafeMutableRawPointer

        /// A symbol as the function that the library's documentation says it is; the caller's type is the declaration.
        func function<Function>(_ name: String) throws(SQLFault) -> Function {
            guard let symbol = dlsym(handle, name) else {
                throw SQLFault.misconfigured(reason: "libpq_too_old: the client library of PostgreSQL has no \(name)")
            }
            return unsafeBitCast(symbol, to: Function.self)
        }
    }

    private init(_ library: Library) throws(SQLFault) {
        connect = try library.function("PQconnectdbParams")
        finish = try library.function("PQfinish")
        status = try library.function("PQstatus")
        errorMessage = try library.function("PQerrorMessage")
        socket = try library.function("PQsocket")
        setNonBlocking = try library.function("PQsetnonblocking")
        setNoticeReceiver = try library.function("PQsetNoticeReceiver")
        sendQuery = try library.function("PQsendQuery")
        sendPrepare = try library.function("PQsendPrepare")
        sendPrepared = try library.function("PQsendQueryPrepared")
        sendWithValues = try library.function("PQsendQueryParams")
        flush = try library.function("PQflush")
        consumeInput = try library.function("PQconsumeInput")
        isBusy = try library.function("PQisBusy")
        nextResult = try library.function("PQgetResult")
        resultStatus = try library.function("PQresultStatus")
        resultField = try library.function("PQresultErrorField")
        clear = try library.function("PQclear")
        rowCount = try library.function("PQntuples")
        columnCount = try library.function("PQnfields")
        columnType = try library.function("PQftype")
        isNull = try library.function("PQgetisnull")
        value = try library.function("PQgetvalue")
        length = try library.function("PQgetlength")
        commandStatus = try library.function("PQcmdStatus")
        changedRows = try library.function("PQcmdTuples")
        nextCall = try library.function("PQnotifies")
        freeMemory = try library.function("PQfreemem")
        cancellation = try library.function("PQgetCancel")
        cancel = try library.function("PQcancel")
        freeCancellation = try library.function("PQfreeCancel")
    }
}
