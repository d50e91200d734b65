#if canImport(SwiftUI) && canImport(UIKit)
    import RichPushApp
    import RichPushDevice
    import RichPushModel
    import RichPushPlatform
    import SwiftUI

    /// What an inbox shows: at once what the device knows, then what the server says.
    @MainActor
    public final class InboxModel: ObservableObject {
        @Published public private(set) var inbox = Inbox()
        /// Why it is not as new as it could be.
        @Published public private(set) var failure: RichPushError?
        @Published public private(set) var isLoading = false
        private let client: RichPushClient
        /// Questions under way: the view's own, and those that a user asks by pulling the list down.
        private var questions = 0 { didSet { isLoading = questions > 0 } }

        /// Creates the model; nothing happens until `load`.
        public init(client: RichPushClient) { self.client = client }

        /// Reads the inbox and reads it again with every push, until the task ends: for a view's `task`. The server is asked too
        /// when a notification came that the system shows, of which this device may know nothing else.
        public func load() async {
            inbox = (try? await client.inbox()) ?? Inbox()
            let events = client.events
            await refresh()
            // However many come at once: one question is under way and one waits, which sees all that came before it.
            let (arrivals, arrived) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
            async let asking: Void = refresh(after: arrivals)
            for await event in events {
                let kinds: [DeviceEvent.Kind] = [.fetched, .presented, .arrived, .offered, .opened, .signedIn, .signedOut]
                guard kinds.contains(event.kind) else { continue }
                inbox = (try? await client.inbox()) ?? Inbox()
                if event.kind == .arrived { arrived.yield() }
            }
            arrived.finish()
            await asking
        }

        private func refresh(after arrivals: AsyncStream<Void>) async {
            for await _ in arrivals { await refresh() }
        }

        /// Asks the server.
        public func refresh() async {
            questions += 1
            defer { questions -= 1 }
            do throws(RichPushError) {
                inbox = try await client.refresh()
                failure = nil
            } catch {
                failure = error
            }
        }

        /// Marks an entry as read without opening it.
        public func markRead(_ entry: InboxEntry) async {
            try? await client.markRead(entry.id)
            inbox = (try? await client.inbox()) ?? inbox
        }

        /// The picture of a row, at most `side` pixels wide and high; only from the device. None for a side that is not above 0, and one
        /// without end is as large as a screen shows.
        public func thumbnail(of entry: InboxEntry, side: CGFloat) async -> UIImage? {
            // Also of what is no number: that is not above anything.
            guard side > 0, let content = await client.downloadedContent(of: entry.id), content.mediaType.hasPrefix("image/")
            else {
                return nil
            }
            var limits = PictureFile.Limits.screen
            if let side = Int(exactly: side.rounded(.up)) { limits.side = side }
            return await PictureFile(content.file).image(within: limits)
        }
    }
#endif
