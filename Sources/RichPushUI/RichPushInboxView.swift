#if canImport(SwiftUI) && canImport(UIKit)
    import RichPushApp
    import RichPushDevice
    import RichPushModel
    import SwiftUI

    /// The notifications of the signed-in user, newest first. Pulling it down asks the server.
    public struct RichPushInboxView: View {
        @StateObject private var model: InboxModel
        private let open: @MainActor (InboxEntry) -> Void

        /// - Parameters:
        ///   - client: the app's client.
        ///   - open: what a tap on an entry does, usually to show `RichPushContentScreen`.
        public init(client: RichPushClient, open: @escaping @MainActor (InboxEntry) -> Void) {
            self.init(model: InboxModel(client: client), open: open)
        }

        /// For an app that shows the same model elsewhere too.
        public init(model: @autoclosure @escaping () -> InboxModel, open: @escaping @MainActor (InboxEntry) -> Void) {
            _model = StateObject(wrappedValue: model())
            self.open = open
        }

        public var body: some View {
            List {
                if let failure = model.failure {
                    Label(failure.sentence, systemImage: "exclamationmark.triangle")
                        .accessibilityIdentifier("richpush.failure")
                }
                if model.inbox.entries.isEmpty, model.failure == nil {
                    Text(verbatim: model.isLoading ? Words.loading.text : Words.inboxEmpty.text)
                        .foregroundStyle(.secondary)
                }
                ForEach(model.inbox.entries, id: \.id) { entry in
                    Button {
                        open(entry)
                    } label: {
                        InboxRow(entry: entry, model: model)
                    }
                    .swipeActions {
                        if !entry.read {
                            Button(Words.markRead.text) { Task { await model.markRead(entry) } }
                        }
                    }
                    .accessibilityIdentifier("richpush.entry.\(entry.id)")
                }
            }
            .navigationTitle(Text(verbatim: Words.inbox.text))
            .refreshable { await model.refresh() }
            .task { await model.load() }
        }
    }

    /// One entry. A screen reader hears it as one sentence, "unread" first.
    struct InboxRow: View {
        private static let side: CGFloat = 56

        let entry: InboxEntry
        @ObservedObject var model: InboxModel
        @State private var thumbnail: UIImage?

        var body: some View {
            HStack(alignment: .top) {
                picture.frame(width: Self.side, height: Self.side).clipped().accessibilityHidden(true)
                VStack(alignment: .leading) {
                    if let title = entry.title { Text(verbatim: title).font(.headline) }
                    Text(verbatim: entry.message).font(entry.read ? .body : .body.weight(.semibold))
                    Text(entry.sentAt.date, style: .relative).font(.footnote).foregroundStyle(.secondary)
                }
                Spacer()
                if !entry.read {
                    Image(systemName: "circle.fill").font(.caption).foregroundStyle(.tint).accessibilityHidden(true)
                }
            }
            .accessibilityElement(children: .ignore)
            .accessibilityLabel(Text(verbatim: label))
            .task(id: entry.id) { thumbnail = await model.thumbnail(of: entry, side: Self.side * 3) }
        }

        @ViewBuilder private var picture: some View {
            if let thumbnail {
                Image(uiImage: thumbnail).resizable().aspectRatio(contentMode: .fill)
            } else {
                Image(systemName: entry.kind.symbol).font(.title)
            }
        }

        private var label: String {
            [entry.read ? nil : Words.unread.text, entry.title, entry.message].compactMap { $0 }.joined(separator: ", ")
        }
    }
#endif
