#if canImport(SwiftUI) && canImport(UIKit)
    import RichPushApp
    import RichPushDevice
    import RichPushModel
    import SwiftUI

    /// Opens a notification by its number and shows it, and tries again when the user wants to.
    public struct RichPushContentScreen: View {
        private let client: RichPushClient
        private let id: RichID
        @State private var content: OpenedContent

        /// - Parameters:
        ///   - id: the number of the notification.
        ///   - client: the app's client.
        ///   - content: what is known already, as from `richPush(_:show:)`; it is not fetched again if it is ready.
        public init(_ id: RichID, client: RichPushClient, content: OpenedContent? = nil) {
            self.client = client
            self.id = id
            _content = State(initialValue: content ?? OpenedContent(richID: id, state: .loading))
        }

        public var body: some View {
            RichPushContentView(content) { Task { await load() } }
                .task(id: id) { if content.state == .loading { await load() } }
        }

        private func load() async {
            content.state = .loading
            content = await client.open(id)
        }
    }
#endif
