#if canImport(UIKit) && canImport(UserNotifications)
    import Foundation
    import RichPushDevice
    import RichPushModel

    extension RichPushClient {
        /// The name of the signed-in user; `nil` when nobody is, or before the first unlock.
        public var user: String? { get async { await engine.session?.user } }

        /// Signs in and registers this installation. Whoever was signed in before is signed out first; call `signOut` yourself to
        /// hear what they lost by that.
        public func signIn(user: String, password: String) async throws(RichPushError) {
            // What waits for a screen was for whoever was signed in before; so is what came while they were signed out.
            router.forget()
            downloads.cancel()
            defer { router.forget() }
            try await engine.signIn(user: user, password: password)
        }

        /// Signs out: nothing of the user stays on the device. Then, for at most `DeviceLimits.signOutDeadline`, the server gets what
        /// still waited for it and is told of the sign-out, also when the app goes to the background meanwhile; the sign-out is told at
        /// the next occasion otherwise.
        ///
        /// Returns what the server has not got and nobody has any more. If an answer is among it, tell the user. Throws `storage` when
        /// something could not be read or removed.
        @discardableResult
        public func signOut() async throws(RichPushError) -> SignOutResult {
            let assertion = BackgroundAssertion("Sign out")
            defer { assertion.end() }
            router.forget()
            downloads.cancel()
            defer { router.forget() }
            return try await engine.signOut()
        }

        /// The tags by which an audience may name this installation.
        public var tags: RichPushTags { RichPushTags(engine: engine) }

        /// Asks the user for permission, in a moment when the app can explain why; provisional asks nothing and delivers quietly.
        /// Registering for pushes needs no permission.
        public func requestPermission(provisional: Bool = false) async -> NoticePermission {
            await engine.requestPermission(provisional: provisional)
        }

        /// What the user answered.
        public var permission: NoticePermission { get async { await notifications.permission() } }

        /// The inbox as the device knows it.
        public func inbox() async throws(RichPushError) -> Inbox { try await engine.inbox() }

        /// Tells the server what happened here and reads the inbox from it.
        @discardableResult
        public func refresh() async throws(RichPushError) -> Inbox { try await engine.refresh() }

        /// A content from the device or the server, else the reason why it is not there.
        public func open(_ id: RichID) async -> OpenedContent { await engine.open(id) }

        /// What is on the device of a notification, for a list with thumbnails.
        public func downloadedContent(of id: RichID) async -> CachedContent? { await engine.downloadedContent(of: id) }

        /// Lets the system download a large content, also while the app does not run. It is in the cache afterwards, where `open`
        /// finds it.
        public func downloadInBackground(_ id: RichID) async throws(RichPushError) { try await downloads.start(id) }

        /// Marks a notification as read without opening it.
        public func markRead(_ id: RichID) async throws(RichPushError) { try await engine.markRead(id) }

        /// The answer to a `ContentOffer`.
        public func answer(_ offer: ContentOffer, more: Bool) async {
            await engine.didAnswerOffer(of: offer.richID, more: more)
        }

        /// Sends a push; without a request the rich push tutorial's picture to the user's own devices. Needs
        /// `RichPushConfiguration.keepsPasswordForSending`.
        @discardableResult
        public func send(_ request: SendRequest? = nil) async throws(RichPushError) -> RichID? {
            try await engine.sendPush(request)
        }

        /// Stores content on the server, to be named in a request.
        public func upload(
            _ content: Data, mediaType: String, fileName: String? = nil
        ) async throws(RichPushError) -> ContentAnswer {
            try await engine.upload(content, mediaType: mediaType, fileName: fileName)
        }
    }

    /// The tags of an installation.
    public struct RichPushTags: Sendable {
        let engine: RichPushEngine

        /// What they are now.
        public var current: [String] { get async { await engine.currentTags.map(\.description) } }

        /// Replaces them. Throws `badTag`, and `refused` for tags that only the server may set. Of tags that a server refuses which
        /// could not be reached at first, the event `tagsRefused` tells.
        public func set(_ tags: [String]) async throws(RichPushError) { try await engine.setTags(tags) }
    }
#endif
