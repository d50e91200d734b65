import GRDB
import SQLStorage

/// Turns the engine's errors into `SQLFault`; whatever else a closure throws passes unchanged.
enum FaultMapping {
    static func mapped<Result>(_ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch let error as DatabaseError {
            throw fault(error)
        }
    }

    /// The engine's messages name columns and constraints, never values, and statements are constants.
    static func fault(_ error: DatabaseError) -> SQLFault {
        switch error.extendedResultCode {
        case .SQLITE_CONSTRAINT_UNIQUE, .SQLITE_CONSTRAINT_PRIMARYKEY: return .duplicate
        default: break
        }
        switch error.resultCode {
        case .SQLITE_BUSY, .SQLITE_LOCKED, .SQLITE_FULL, .SQLITE_IOERR, .SQLITE_CANTOPEN, .SQLITE_READONLY, .SQLITE_NOMEM,
            .SQLITE_INTERRUPT, .SQLITE_PROTOCOL, .SQLITE_ABORT, .SQLITE_MISUSE:
            return .unavailable(reason: "\(name(of: error.resultCode)): \(error.message ?? "no message")")
        case .SQLITE_CORRUPT: return .damaged(reason: "SQLITE_CORRUPT")
        case .SQLITE_NOTADB: return .damaged(reason: "SQLITE_NOTADB")
        default:
            return .refused(code: Int(error.extendedResultCode.rawValue), reason: error.message ?? "no message")
        }
    }

    /// The name in the engine's documentation, by which people find what to do.
    private static func name(of code: ResultCode) -> String {
        switch code {
        case .SQLITE_BUSY: "SQLITE_BUSY"
        case .SQLITE_LOCKED: "SQLITE_LOCKED"
        case .SQLITE_FULL: "SQLITE_FULL"
        case .SQLITE_IOERR: "SQLITE_IOERR"
        case .SQLITE_CANTOPEN: "SQLITE_CANTOPEN"
        case .SQLITE_READONLY: "SQLITE_READONLY"
        case .SQLITE_NOMEM: "SQLITE_NOMEM"
        default: "SQLite \(code.rawValue)"
        }
    }

    /// The same for an error of the commit itself: after an input/output error the frames may have reached the log.
    static func commitFault(_ error: any Error) -> any Error {
        guard let error = error as? DatabaseError else { return error }
        return error.resultCode == .SQLITE_IOERR ? SQLFault.outcomeUnknown : fault(error)
    }
}
