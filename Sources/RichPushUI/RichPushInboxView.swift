#if canImport(SwiftUI) && canImport(UIKit)
    import RichPushApp
    import RichPushDevice
    import RichPushModel
    import RichPushPlatform
    import SwiftUI

    /// The notifications of the signed-in user, newest first. Pulling it down refreshes it from the server.
    public struct RichPushInboxView: View {
        @StateObject private var model: InboxModel
        private let open: @MainActor (InboxEntry) -> Void

        /// - Parameters:
        ///   - push: the app's `RichPush`.
        ///   - open: what a tap on an entry does, usually to show `RichPushContentScreen`.
        public init(push: RichPush, open: @escaping @MainActor (InboxEntry) -> Void) {
            self.init(model: InboxModel(push: push), open: open)
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
                    Text(verbatim: model.isLoading ? LocalizedText.loading.text : LocalizedText.inboxEmpty.text)
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
                            Button(LocalizedText.markRead.text) { Task { await model.markRead(entry) } }
                        }
                    }
                    .accessibilityIdentifier("richpush.entry.\(entry.id)")
                }
            }
            .navigationTitle(Text(verbatim: LocalizedText.inbox.text))
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
            [entry.read ? nil : LocalizedText.unread.text, entry.title, entry.message].compactMap { $0 }.joined(separator: ", ")
        }
    }

    /// The model of an inbox: first what the device knows, then what the server returns.
    @MainActor
    public final class InboxModel: ObservableObject {
        @Published public private(set) var inbox = Inbox()
        /// Why the inbox may be out of date.
        @Published public private(set) var failure: RichPushError?
        @Published public private(set) var isLoading = false
        private let push: RichPush
        /// Refreshes under way: the view's own, and those that a user starts by pulling the list down.
        private var questions = 0 { didSet { isLoading = questions > 0 } }

        /// Creates the model; nothing happens until `load`.
        public init(push: RichPush) { self.push = push }

        /// Reads the inbox, and reads it again with every push, until the task ends: for a view's `task`. The server is asked too when
        /// the system showed a notification or a user signed in, because this device may know nothing else about it.
        public func load() async {
            inbox = (try? await push.inbox()) ?? Inbox()
            let events = push.events
            await refresh()
            // However many arrive at once: one refresh is under way and one waits, which includes all that arrived before it.
            let (arrivals, arrived) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
            async let asking: Void = refresh(after: arrivals)
            for await event in events {
                let kinds: [DeviceEvent.Kind] = [.fetched, .presented, .arrived, .offered, .opened, .signedIn, .signedOut]
                guard kinds.contains(event.kind) else { continue }
                inbox = (try? await push.inbox()) ?? Inbox()
                if [.arrived, .signedIn].contains(event.kind) { arrived.yield() }
            }
            arrived.finish()
            await asking
        }

        private func refresh(after arrivals: AsyncStream<Void>) async {
            for await _ in arrivals { await refresh() }
        }

        /// Reads the inbox from the server.
        public func refresh() async {
            questions += 1
            defer { questions -= 1 }
            do throws(RichPushError) {
                inbox = try await push.refresh()
                failure = nil
            } catch {
                failure = error
            }
        }

        /// Marks an entry as read without opening it.
        public func markRead(_ entry: InboxEntry) async {
            try? await push.markRead(entry.id)
            inbox = (try? await push.inbox()) ?? inbox
        }

        /// The picture of a row, at most `side` pixels wide and high, and only from the device. `nil` for a side that is not above 0;
        /// an infinite side gives a picture as large as a screen shows.
        public func thumbnail(of entry: InboxEntry, side: CGFloat) async -> UIImage? {
            // NaN is not above 0 either.
            guard side > 0, let content = await push.downloadedContent(of: entry.id), content.mediaType.hasPrefix("image/")
            else {
                return nil
            }
            var limits = PictureFile.Limits.screen
            if let side = Int(exactly: side.rounded(.up)) { limits.side = side }
            return await PictureFile(content.file).image(within: limits)
        }
    }
#endif
