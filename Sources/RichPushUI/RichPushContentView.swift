#if canImport(SwiftUI) && canImport(UIKit)
    import RichPushDevice
    import RichPushModel
    import SwiftUI

    /// A content of any kind, with its words, in any state: never a blank screen.
    public struct RichPushContentView: View {
        private let content: OpenedContent
        private let retry: @MainActor () -> Void

        /// - Parameters:
        ///   - content: what is shown, in whatever state.
        ///   - retry: called when the user wants to try again what could not be downloaded.
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
                        Label(Words.encrypted.text, systemImage: "lock").font(.footnote)
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
            case .loading: ProgressView(Words.loading.text)
            case .ready: KindView(content: content)
            case .missing(let error): FailureView(error: error, retry: retry)
            case .failed(let error): FailureView(error: error, retry: nil)
            }
        }
    }

    /// What is ready, by its kind. What a newer server sends is a file to an older app.
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
        /// Absent when trying again would end the same.
        let retry: (@MainActor () -> Void)?

        var body: some View {
            VStack(alignment: .leading, spacing: 8) {
                Label(error.sentence, systemImage: "exclamationmark.triangle")
                if let retry {
                    Button(Words.retry.text, action: retry).accessibilityIdentifier("richpush.retry")
                }
            }
            .accessibilityIdentifier("richpush.failure")
        }
    }
#endif
