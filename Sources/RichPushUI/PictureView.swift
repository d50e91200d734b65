#if canImport(SwiftUI) && canImport(UIKit)
    import Foundation
    import RichPushDevice
    import RichPushPlatform
    import SwiftUI

    /// A picture, as wide as the screen, with the sender's words for those who cannot see it. It is decoded while the screen is
    /// there already; what cannot be shown, or should not be, is handed on as a file.
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
            view.accessibilityLabel(Text(verbatim: content.altText ?? Words.noDescription.text))
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
