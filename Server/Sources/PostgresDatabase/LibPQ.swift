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
