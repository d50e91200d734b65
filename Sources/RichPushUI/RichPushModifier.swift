#if canImport(SwiftUI) && canImport(UIKit)
    import RichPushApp
    import RichPushDevice
    import RichPushModel
    import SwiftUI

    extension View {
        /// Connects an app's screens with rich push: what a tap, the button More or a cold start opens goes to `show`, and in the
        /// foreground the app asks OK / More.
        ///
        /// - Parameters:
        ///   - push: the app's `RichPush`.
        ///   - show: called again for the same id as a content goes from loading to its end.
        ///   - forget: called when another user may come, at every sign-in and sign-out: what was shown is not for them and must
        ///     leave the screen. The question in the foreground disappears without it.
        public func richPush(
            _ push: RichPush, show: @escaping @MainActor (OpenedContent) -> Void,
            forget: @escaping @MainActor () -> Void = {}
        ) -> some View {
            modifier(RichPushModifier(push: push, show: show, forget: forget))
        }
    }

    /// Asks OK / More, one question after the other.
    struct RichPushModifier: ViewModifier {
        let push: RichPush
        let show: @MainActor (OpenedContent) -> Void
        let forget: @MainActor () -> Void
        @State private var offers: [ContentOffer] = []

        func body(content: Content) -> some View {
            content
                .onAppear { push.attach(show: show, offer: { offers.append($0) }, forget: { clear() }) }
                .alert(title, isPresented: isAsking, presenting: offers.first) { offer in
                    Button(push.configuration.moreTitle) { answer(offer, more: true) }
                    Button(LocalizedText.okay.text, role: .cancel) { answer(offer, more: false) }
                } message: { offer in
                    Text(verbatim: offer.message)
                }
        }

        private var title: Text { Text(verbatim: offers.first?.title ?? LocalizedText.newNotification.text) }

        private var isAsking: Binding<Bool> {
            // The system sets it to false when a button was pressed, which takes the question away itself.
            Binding(get: { !offers.isEmpty }, set: { _ in })
        }

        private func clear() {
            offers = []
            forget()
        }

        private func answer(_ offer: ContentOffer, more: Bool) {
            offers.removeAll { $0 == offer }
            Task { await push.answer(offer, more: more) }
        }
    }

    /// Opens a notification by its number and shows it, and tries again when the user wants to.
    public struct RichPushContentScreen: View {
        private let push: RichPush
        private let id: RichID
        @State private var content: OpenedContent

        /// - Parameters:
        ///   - id: the number of the notification.
        ///   - push: the app's `RichPush`.
        ///   - content: what is known already, as from `richPush(_:show:)`; it is not fetched again if it is ready.
        public init(_ id: RichID, push: RichPush, content: OpenedContent? = nil) {
            self.push = push
            self.id = id
            _content = State(initialValue: content ?? OpenedContent(richID: id, state: .loading))
        }

        public var body: some View {
            RichPushContentView(content) { Task { await load() } }
                .task(id: id) { if content.state == .loading { await load() } }
        }

        private func load() async {
            content.state = .loading
            content = await push.open(id)
        }
    }
#endif
