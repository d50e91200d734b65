import RichPushDevice
import RichPushModel
import SwiftUI

/// Where the app is. A tap on a notification goes to its content from anywhere.
@MainActor
final class Router: ObservableObject {
    enum Tab: Hashable { case inbox, send, settings }

    @Published var tab = Tab.inbox
    @Published var path: [RichID] = []
    /// What is known of contents that a notification opened, so that their screens need not ask again.
    @Published private(set) var opened: [RichID: OpenedContent] = [:]

    /// Shows a content; called again while it goes from loading to its end.
    func show(_ content: OpenedContent) {
        opened[content.richID] = content
        tab = .inbox
        if path.last != content.richID { path.append(content.richID) }
    }

    /// Forgets what belonged to the user before.
    func forget() {
        path = []
        opened = [:]
    }
}
