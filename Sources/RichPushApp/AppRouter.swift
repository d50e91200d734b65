#if canImport(UIKit) && canImport(UserNotifications)
    import RichPushDevice
    import RichPushModel

    /// Takes what the engine wants shown to whatever the app shows it with. Until the app has screens, as when a tap starts it,
    /// the newest of it waits here.
    @MainActor
    final class AppRouter: ContentRouting {
        /// Nobody taps on more before an app has started.
        private static let limit = 16

        private(set) var contents: [OpenedContent] = []
        private var offers: [ContentOffer] = []
        private var onShow: (@MainActor (OpenedContent) -> Void)?
        private var onOffer: (@MainActor (ContentOffer) -> Void)?
        private var onForget: (@MainActor () -> Void)?

        /// Whether somebody asks OK / More.
        var hearsOffers: Bool { onOffer != nil }

        func attach(
            show: @escaping @MainActor (OpenedContent) -> Void, offer: (@MainActor (ContentOffer) -> Void)?,
            forget: (@MainActor () -> Void)? = nil
        ) {
            onShow = show
            onOffer = offer
            onForget = forget
            let (contents, offers) = (contents, offers)
            self.contents = []
            for content in contents { show(content) }
            guard let offer else { return }
            self.offers = []
            for waiting in offers { offer(waiting) }
        }

        /// What waits, and what a screen asks, was for a user who has signed out.
        func forget() {
            contents = []
            offers = []
            onForget?()
        }

        func show(_ content: OpenedContent) async {
            if let onShow { return onShow(content) }
            contents.removeAll { $0.richID == content.richID }
            contents.append(content)
            if contents.count > Self.limit { contents.removeFirst() }
        }

        func offer(_ offer: ContentOffer) async {
            if let onOffer { return onOffer(offer) }
            offers.removeAll { $0.richID == offer.richID }
            offers.append(offer)
            if offers.count > Self.limit { offers.removeFirst() }
        }
    }
#endif
