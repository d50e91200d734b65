#if canImport(ActivityKit) && canImport(UIKit)
    import Foundation
    import ImageIO
    import RichPushDevice
    import RichPushModel
    import RichPushPlatform

    /// The picture of a Live Activity, for the view that draws it.
    ///
    /// ```swift
    /// if let picture = LiveActivityPicture.image(context.state.clarionPicture, of: .shop) {
    ///     Image(uiImage: UIImage(cgImage: picture))
    /// }
    /// ```
    ///
    /// A view of a widget has no network. So the app fetches the picture when it reports the activity, and puts it into the App Group. The
    /// system draws the view again with the next change (Reference/LiveActivities.md#3-1).
    public enum LiveActivityPicture {
        /// What a card may take, in pixels: the system leaves out or greys a view that is larger than its place.
        private static let largestSide = 1_000

        /// The picture of a rich notification, upright, with at most `side` pixels on its longest side, 1 to 1,000. `nil` while the app has
        /// not fetched it, without an App Group, and for a file that is no picture or has more pixels than an extension can decode.
        public static func image(_ id: RichID?, side: Int = 300, of configuration: RichPushConfiguration) -> CGImage? {
            guard let id, let folder = SharedFolder.inGroup(configuration.appGroup) else { return nil }
            let content = folder.appendingPathComponent(SharedFolder.content, isDirectory: true)
            var limits = PictureFile.Limits.notification
            limits.side = min(max(side, 1), largestSide)
            return try? PictureFile(FileContentCache.sharedPicture(of: id, in: content)).decoded(within: limits)
        }
    }
#endif
