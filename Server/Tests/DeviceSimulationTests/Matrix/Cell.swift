import RichPushModel

/// One cell of the delivery matrix: the phone's state, the push, the backend's trouble, and the user's action.
struct Cell: Hashable, CustomStringConvertible {
    enum State: String, CaseIterable {
        case foreground, background, suspended, terminated, forceQuit, locked, beforeFirstUnlock
    }

    enum Push: String, CaseIterable { case silent, alert, both }

    /// What becomes of calls to the backend from the moment of the push on.
    enum Trouble: String, CaseIterable {
        case online
        /// Small answers take a second, contents 40: longer than the extension has.
        case slow
        case offline
        /// 401 on everything, the password included.
        case unauthorized
        /// 404 on the notification.
        case missing
        /// 500 on everything.
        case failing
        /// Other bytes than were announced.
        case wrongHash
        /// More bytes announced than a device takes.
        case tooLarge
        /// Announced as a picture, and a page of HTML.
        case hostileType
    }

    enum Act: String, CaseIterable { case tap, more, dismiss, ignore }

    var state: State
    var push: Push
    var trouble: Trouble
    var act: Act

    var description: String { "\(state) × \(push) × \(trouble) × \(act)" }

    var hasAlert: Bool { push != .silent }
    var wakesApp: Bool { push != .alert }

    /// The 36 cells of a state and a push.
    static func all(_ state: State, _ push: Push) -> [Cell] {
        Trouble.allCases.flatMap { trouble in
            Act.allCases.map { Cell(state: state, push: push, trouble: trouble, act: $0) }
        }
    }
}
