#if canImport(SwiftUI) && canImport(UIKit)
    import AVKit
    import Foundation
    import RichPushDevice
    import RichPushModel
    import SwiftUI

    /// A sound or a film. It starts when the user starts it, never by itself: some do not want motion, and some are in a meeting.
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

        private var name: String { content.kind == .video ? Words.video.text : Words.sound.text }
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
                    Button(Words.openLink.text) { isAsking = true }.accessibilityIdentifier("richpush.link")
                }
                .confirmationDialog(Text(verbatim: Words.openLinkQuestion.text), isPresented: $isAsking) {
                    Button(Words.openLink.text) { openURL(link) }
                    Button(Words.cancel.text, role: .cancel) {}
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
                        .accessibilityLabel(Text(verbatim: "\(Words.couponCode.text): \(spelled(coupon.code))"))
                        .accessibilityIdentifier("richpush.coupon")
                    if let validUntil = coupon.validUntil {
                        HStack {
                            Text(verbatim: Words.validUntil.text)
                            Text(validUntil.date, style: .date)
                        }
                        .font(.footnote)
                    }
                    if let terms = coupon.terms { Text(verbatim: terms).font(.footnote).foregroundStyle(.secondary) }
                }
            }
        }

        /// A screen reader shall spell a code and not try to pronounce it.
        private func spelled(_ code: String) -> String { code.map(String.init).joined(separator: " ") }
    }

    /// Any other file, to be handed on to an app that knows it.
    struct FileView: View {
        let content: OpenedContent

        var body: some View {
            if let file = content.content?.file {
                ShareLink(item: file) {
                    Label(content.fileName ?? Words.file.text, systemImage: "square.and.arrow.up")
                }
                .accessibilityLabel(Text(verbatim: "\(Words.share.text): \(content.fileName ?? Words.file.text)"))
                .accessibilityIdentifier("richpush.file")
            }
        }
    }
#endif
