import DeviceSimulation
import RichPushModel

/// A cell of the delivery matrix in which the boundary between app and extension matters, with all that must come of it.
struct ProcessCell: Sendable {
    enum State: String { case foreground, background, suspended, terminated, forceQuit, locked, beforeFirstUnlock }
    enum Trouble: String { case online, slow, offline, recalled }
    enum Act: String { case tap, more, dismiss, ignore }

    /// What is in the notification centre, or in the question OK / More.
    enum Seen: Equatable { case nothing, neutral, words, picture, question }

    var state: State
    var style: DeliveryStyle
    var trouble = Trouble.online
    var act: Act
    var seen: Seen
    /// The state of the content screen after the act; absent when none is open.
    var content: String?
    var receipts: Set<String>
    /// Those that come besides when the trouble is over and the app was opened.
    var later: Set<String> = []

    var name: String { "\(style)-\(state)-\(trouble)-\(act)" }

    static let all: [ProcessCell] = [
        ProcessCell(
            state: .foreground, style: .alert, act: .more, seen: .question, content: "ready",
            receipts: ["delivered", "fetched", "action", "opened"]),
        ProcessCell(
            state: .background, style: .alert, act: .tap, seen: .picture, content: "ready",
            receipts: ["delivered", "fetched", "opened"]),
        ProcessCell(
            state: .suspended, style: .alert, act: .more, seen: .picture, content: "ready",
            receipts: ["delivered", "fetched", "action", "opened"]),
        ProcessCell(
            state: .terminated, style: .alert, act: .tap, seen: .picture, content: "ready",
            receipts: ["delivered", "fetched", "opened"]),
        ProcessCell(
            state: .terminated, style: .alert, act: .dismiss, seen: .picture, receipts: ["delivered", "fetched", "dismissed"]),
        ProcessCell(state: .forceQuit, style: .alert, act: .ignore, seen: .picture, receipts: ["delivered", "fetched"]),
        ProcessCell(
            state: .forceQuit, style: .alert, act: .tap, seen: .picture, content: "ready",
            receipts: ["delivered", "fetched", "opened"]),
        ProcessCell(
            state: .locked, style: .alert, act: .tap, seen: .picture, content: "ready",
            receipts: ["delivered", "fetched", "opened"]),
        ProcessCell(
            state: .beforeFirstUnlock, style: .alert, act: .tap, seen: .neutral, content: "ready", receipts: ["opened"]),
        ProcessCell(state: .beforeFirstUnlock, style: .alert, act: .ignore, seen: .neutral, receipts: []),
        ProcessCell(
            state: .foreground, style: .silent, act: .more, seen: .question, content: "ready",
            receipts: ["delivered", "fetched", "action", "opened"]),
        ProcessCell(
            state: .terminated, style: .silent, act: .tap, seen: .picture, content: "ready",
            receipts: ["delivered", "fetched", "opened"]),
        ProcessCell(state: .forceQuit, style: .silent, act: .ignore, seen: .nothing, receipts: []),
        ProcessCell(state: .beforeFirstUnlock, style: .silent, act: .ignore, seen: .nothing, receipts: []),
        ProcessCell(
            state: .background, style: .both, act: .tap, seen: .picture, content: "ready",
            receipts: ["delivered", "fetched", "opened"]),
        ProcessCell(state: .terminated, style: .both, act: .ignore, seen: .picture, receipts: ["delivered", "fetched"]),
        ProcessCell(
            state: .terminated, style: .alert, trouble: .offline, act: .tap, seen: .neutral, content: "missing", receipts: [],
            later: ["delivered", "failed", "opened"]),
        ProcessCell(
            state: .terminated, style: .silent, trouble: .offline, act: .tap, seen: .neutral, content: "missing", receipts: [],
            later: ["delivered", "failed", "opened"]),
        ProcessCell(
            state: .terminated, style: .alert, trouble: .slow, act: .ignore, seen: .words, receipts: ["delivered"],
            later: ["failed"]),
        ProcessCell(
            state: .forceQuit, style: .alert, trouble: .recalled, act: .tap, seen: .neutral, content: "failed",
            receipts: []),
    ]
}
