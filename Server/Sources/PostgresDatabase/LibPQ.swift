import Foundation
import SQLStorage

/// The functions of PostgreSQL's client library that this driver uses, found in the library at first use and not by the linker.
///
/// The types of the library are opaque here; numbers of its enumerations are those of its documentation, which never change.
struct LibPQ: Sendable {
    typealias Link = OpaquePointer
    typealias Texts = UnsafePointer<UnsafePointer<CChar>?>

    let connect: @Sendable @convention(c) (Texts, Texts, Int32) -> Link?
    let finish: @Sendable @convention(c) (Link) -> Void
    let status: @Sendable @convention(c) (Link) -> Int32
    let errorMessage: @Sendable @convention(c) (Link) -> UnsafePointer<CChar>?
    let socket: @Sendable @convention(c) (Link) -> Int32
    let setNonBlocking: @Sendable @convention(c) (Link, Int32) -> Int32
    let setNoticeReceiver:
        @Sendable @convention(c) (
            Link, (@convention(c) (UnsafeMutableRawPointer?, OpaquePointer?) -> Void)?, UnsafeMutableRawPointer?
        ) -> UnsafeMutableRawPointer?

    let sendQuery: @Sendable @convention(c) (Link, UnsafePointer<CChar>) -> Int32
    let sendPrepare:
        @Sendable @convention(c) (Link, UnsafePointer<CChar>, UnsafePointer<CChar>, Int32, UnsafePointer<UInt32>?) -> Int32
    let sendPrepared:
        @Sendable @convention(c) (
            Link, UnsafePointer<CChar>, Int32, Texts?, UnsafePointer<Int32>?, UnsafePointer<Int32>?, Int32
        ) -> Int32
    let sendWithValues:
        @Sendable @convention(c) (
            Link, UnsafePointer<CChar>, Int32, UnsafePointer<UInt32>?, Texts?, UnsafePointer<Int32>?, UnsafePointer<Int32>?, Int32
        ) -> Int32
    let flush: @Sendable @convention(c) (Link) -> Int32
    let consumeInput: @Sendable @convention(c) (Link) -> Int32
    let isBusy: @Sendable @convention(c) (Link) -> Int32
    let nextResult: @Sendable @convention(c) (Link) -> OpaquePointer?

    let resultStatus: @Sendable @convention(c) (OpaquePointer) -> Int32
    let resultField: @Sendable @convention(c) (OpaquePointer, Int32) -> UnsafePointer<CChar>?
    let clear: @Sendable @convention(c) (OpaquePointer) -> Void
    let rowCount: @Sendable @convention(c) (OpaquePointer) -> Int32
    let columnCount: @Sendable @convention(c) (OpaquePointer) -> Int32
    let columnType: @Sendable @convention(c) (OpaquePointer, Int32) -> UInt32
    let isNull: @Sendable @convention(c) (OpaquePointer, Int32, Int32) -> Int32
    let value: @Sendable @convention(c) (OpaquePointer, Int32, Int32) -> UnsafePointer<CChar>?
    let length: @Sendable @convention(c) (OpaquePointer, Int32, Int32) -> Int32
    let commandStatus: @Sendable @convention(c) (OpaquePointer) -> UnsafePointer<CChar>?
    let changedRows: @Sendable @convention(c) (OpaquePointer) -> UnsafePointer<CChar>?

    let nextCall: @Sendable @convention(c) (Link) -> UnsafeMutableRawPointer?
    let freeMemory: @Sendable @convention(c) (UnsafeMutableRawPointer) -> Void

    let cancellation: @Sendable @convention(c) (Link) -> OpaquePointer?
    let cancel: @Sendable @convention(c) (OpaquePointer, UnsafeMutablePointer<CChar>, Int32) -> Int32
    let freeCancellation: @Sendable @convention(c) (OpaquePointer) -> Void
}

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
