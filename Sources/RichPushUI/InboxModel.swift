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

        /// Creates the model; nothing happens until `load`.
        public init(client: RichPushClient) { self.client = client }

        /// Reads the inbox and reads it again with every push, until the task ends: for a view's `task`. The server is asked too
        /// when a notification came that the system shows, of which this device may know nothing else.
        public func load() async {
            inbox = (try? await client.inbox()) ?? Inbox()
            let events = client.events
            await refresh()
            for await event in events {
                let kinds: [DeviceEvent.Kind] = [.fetched, .presented, .arrived, .offered, .opened, .signedIn, .signedOut]
                guard kinds.contains(event.kind) else { continue }
                inbox = (try? await client.inbox()) ?? Inbox()
                if event.kind == .arrived { await refresh() }
            }
        }

        /// Asks the server.
        public func refresh() async {
            isLoading = true
            defer { isLoading = false }
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

        /// The picture of a row, at most `side` pixels wide and high; only from the device.
        public func thumbnail(of entry: InboxEntry, side: CGFloat) async -> UIImage? {
            guard let content = await client.downloadedContent(of: entry.id), content.mediaType.hasPrefix("image/") else {
                return nil
            }
            var limits = PictureFile.Limits.screen
            limits.side = Int(side.rounded(.up))
            return await PictureFile(content.file).image(within: limits)
        }
    }
#endif
