#if canImport(SwiftUI) && canImport(UIKit)
    import AVKit
    import Foundation
    import RichPushDevice
    import RichPushModel
    import RichPushPlatform
    import SwiftUI

    /// A content of any kind, with its text, in any state: never a blank screen.
    public struct RichPushContentView: View {
        private let content: OpenedContent
        private let retry: @MainActor () -> Void

        /// - Parameters:
        ///   - content: what is shown, in whatever state.
        ///   - retry: called when the user wants to retry a failed download.
        public init(_ content: OpenedContent, retry: @escaping @MainActor () -> Void) {
            self.content = content
            self.retry = retry
        }

        public var body: some View {
            ScrollView {
                VStack(alignment: .leading, spacing: 16) {
                    if let title = content.title {
                        Text(verbatim: title).font(.title2).accessibilityAddTraits(.isHeader)
                    }
                    if let subtitle = content.subtitle { Text(verbatim: subtitle).font(.subheadline) }
                    if content.isSealed {
                        Label(LocalizedText.encrypted.text, systemImage: "lock").font(.footnote)
                            .accessibilityIdentifier("richpush.encrypted")
                    }
                    main
                    if !content.message.isEmpty { Text(verbatim: content.message).textSelection(.enabled) }
                }
                .padding()
            }
            .accessibilityIdentifier("richpush.content.\(content.richID)")
        }

        @ViewBuilder private var main: some View {
            switch content.state {
            case .loading: ProgressView(LocalizedText.loading.text)
            case .ready: KindView(content: content)
            case .missing(let error): FailureView(error: error, retry: retry)
            case .failed(let error): FailureView(error: error, retry: nil)
            }
        }
    }

    /// A ready content, by its kind. An older app shows a newer server's kinds as files.
    private struct KindView: View {
        let content: OpenedContent

        var body: some View {
            switch content.kind {
            case .image: PictureView(content: content)
            case .sound, .video: MediaView(content: content)
            case .link: LinkView(link: content.link)
            case .coupon: CouponView(coupon: content.coupon)
            case .text: EmptyView()
            default: FileView(content: content)
            }
        }
    }

    /// Why there is nothing to see, and what can be done about it.
    struct FailureView: View {
        let error: RichPushError
        /// Absent when a retry would fail the same way.
        let retry: (@MainActor () -> Void)?

        var body: some View {
            VStack(alignment: .leading, spacing: 8) {
                Label(error.sentence, systemImage: "exclamationmark.triangle")
                if let retry {
                    Button(LocalizedText.retry.text, action: retry).accessibilityIdentifier("richpush.retry")
                }
            }
            .accessibilityIdentifier("richpush.failure")
        }
    }

    /// A sound or a video. It plays only when the user starts it: some users do not want motion, and some are in a meeting.
    struct MediaView: View {
        let content: OpenedContent
        @State private var player: AVPlayer?

        var body: some View {
            VStack(alignment: .leading) {
                VideoPlayer(player: player)
                    .frame(minHeight: content.kind == .video ? 220 : 60)
                    .accessibilityLabel(Text(verbatim: content.altText ?? name))
                    .accessibilityIdentifier("richpush.player")
                if let altText = content.altText { Text(verbatim: altText).font(.footnote).foregroundStyle(.secondary) }
            }
            .onAppear { player = content.content.map { AVPlayer(url: $0.file) } }
            .onDisappear { player?.pause() }
        }

        private var name: String { content.kind == .video ? LocalizedText.video.text : LocalizedText.sound.text }
    }

    /// A link, which opens outside of the app only after the user has seen where it leads.
    struct LinkView: View {
        let link: URL?
        @State private var isAsking = false
        @Environment(\.openURL) private var openURL

        var body: some View {
            if let link {
                VStack(alignment: .leading, spacing: 8) {
                    Text(verbatim: link.absoluteString).font(.footnote).textSelection(.enabled)
                    Button(LocalizedText.openLink.text) { isAsking = true }.accessibilityIdentifier("richpush.link")
                }
                .confirmationDialog(Text(verbatim: LocalizedText.openLinkQuestion.text), isPresented: $isAsking) {
                    Button(LocalizedText.openLink.text) { openURL(link) }
                    Button(LocalizedText.cancel.text, role: .cancel) {}
                } message: {
                    Text(verbatim: link.host ?? link.absoluteString)
                }
            }
        }
    }

    /// A coupon, with the code large enough for the till.
    struct CouponView: View {
        let coupon: Coupon?

        var body: some View {
            if let coupon {
                VStack(alignment: .leading, spacing: 8) {
                    Text(verbatim: coupon.headline).font(.headline)
                    Text(verbatim: coupon.code).font(.system(.largeTitle, design: .monospaced)).textSelection(.enabled)
                        .accessibilityLabel(Text(verbatim: "\(LocalizedText.couponCode.text): \(spelled(coupon.code))"))
                        .accessibilityIdentifier("richpush.coupon")
                    if let validUntil = coupon.validUntil {
                        HStack {
                            Text(verbatim: LocalizedText.validUntil.text)
                            Text(validUntil.date, style: .date)
                        }
                        .font(.footnote)
                    }
                    if let terms = coupon.terms { Text(verbatim: terms).font(.footnote).foregroundStyle(.secondary) }
                }
            }
        }

        /// A screen reader should spell a code and not pronounce it.
        private func spelled(_ code: String) -> String { code.map(String.init).joined(separator: " ") }
    }

    /// Any other file, to be shared with an app that can open it.
    struct FileView: View {
        let content: OpenedContent

        var body: some View {
            if let file = content.content?.file {
                ShareLink(item: file) {
                    Label(content.fileName ?? LocalizedText.file.text, systemImage: "square.and.arrow.up")
                }
                .accessibilityLabel(Text(verbatim: "\(LocalizedText.share.text): \(content.fileName ?? LocalizedText.file.text)"))
                .accessibilityIdentifier("richpush.file")
            }
        }
    }

    /// A picture, as wide as the screen, with the sender's description for users who cannot see it. It is decoded while the screen is
    /// already visible; what cannot or should not be shown is offered as a file.
    struct PictureView: View {
        /// How far it is.
        private enum Shown {
            case nothing
            case picture(UIImage)
            case notShowable
        }

        let content: OpenedContent
        @State private var shown = Shown.nothing

        var body: some View {
            VStack { picture }.task(id: content.content?.file) { await load() }
        }

        @ViewBuilder private var picture: some View {
            switch shown {
            case .nothing: named(ProgressView())
            case .picture(let image): named(Image(uiImage: image).resizable().aspectRatio(contentMode: .fit))
            case .notShowable: FileView(content: content)
            }
        }

        private func named(_ view: some View) -> some View {
            view.accessibilityLabel(Text(verbatim: content.altText ?? LocalizedText.noDescription.text))
                .accessibilityAddTraits(.isImage)
                .accessibilityIdentifier("richpush.picture")
        }

        private func load() async {
            guard let file = content.content?.file else {
                shown = .notShowable
                return
            }
            let image = await PictureFile(file).image(within: .screen)
            guard !Task.isCancelled else { return }
            shown = image.map { .picture($0) } ?? .notShowable
        }
    }

    extension PictureFile {
        /// Decoded away from the main actor; nothing for what is no picture or would be too large.
        func image(within limits: Limits) async -> UIImage? {
            (try? decoded(within: limits)).map { UIImage(cgImage: $0) }
        }
    }
#endif
