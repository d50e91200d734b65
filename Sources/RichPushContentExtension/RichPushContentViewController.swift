#if canImport(UIKit) && canImport(UserNotifications) && canImport(UserNotificationsUI)
    import Foundation
    import RichPushModel
    import RichPushPlatform
    import UIKit
    import UserNotifications
    import UserNotificationsUI

    /// The view of a content extension: the picture of a rich notification as wide as the notification, with its text. An app only
    /// writes a subclass without a body.
    ///
    /// The system calls it again for each notification of the same thread, so every call replaces what is shown.
    open class RichPushContentViewController: UIViewController, UNNotificationContentExtension {
        private let stack = UIStackView()
        private let picture = UIImageView()
        private let label = UILabel()
        private var ratio: NSLayoutConstraint?
        /// The picture that is being decoded.
        private(set) var decoding: Task<Void, Never>?

        /// The most that a picture may be higher than wide, so that the buttons stay on the screen.
        private static let highest: CGFloat = 1.5

        open override func viewDidLoad() {
            super.viewDidLoad()
            picture.contentMode = .scaleAspectFit
            picture.isAccessibilityElement = true
            picture.accessibilityTraits = .image
            picture.accessibilityIdentifier = "richpush.picture"
            label.numberOfLines = 0
            label.font = UIFont.preferredFont(forTextStyle: .body)
            label.adjustsFontForContentSizeCategory = true
            label.accessibilityIdentifier = "richpush.words"
            stack.axis = .vertical
            stack.spacing = 8
            stack.translatesAutoresizingMaskIntoConstraints = false
            stack.addArrangedSubview(picture)
            stack.addArrangedSubview(label)
            view.addSubview(stack)
            NSLayoutConstraint.activate([
                stack.leadingAnchor.constraint(equalTo: view.layoutMarginsGuide.leadingAnchor),
                stack.trailingAnchor.constraint(equalTo: view.layoutMarginsGuide.trailingAnchor),
                stack.topAnchor.constraint(equalTo: view.topAnchor, constant: 8),
                stack.bottomAnchor.constraint(equalTo: view.bottomAnchor, constant: -8),
            ])
        }

        open func didReceive(_ notification: UNNotification) {
            let content = notification.request.content
            label.text = content.body
            show(content.attachments.first?.url)
            let altText = content.userInfo[PushEnvelope.altTextKey] as? String
            picture.accessibilityLabel = altText ?? content.body
        }

        /// Makes room for the picture at once, since the system asks for the height now, and decodes it meanwhile.
        private func show(_ file: URL?) {
            decoding?.cancel()
            picture.image = nil
            ratio?.isActive = false
            let height = file.flatMap { file in
                Self.reading(file) { try? $0.heightToWidth(within: .notification) }
            }
            picture.isHidden = height == nil
            guard let file, let height else { return }
            ratio = picture.heightAnchor.constraint(equalTo: picture.widthAnchor, multiplier: min(height, Self.highest))
            ratio?.isActive = true
            decoding = Task {
                let image = await Self.image(in: file)
                guard !Task.isCancelled else { return }
                picture.image = image
                picture.isHidden = image == nil
            }
        }

        /// Away from the main actor.
        private nonisolated static func image(in file: URL) async -> UIImage? {
            reading(file) { try? $0.decoded(within: .notification) }.map { UIImage(cgImage: $0) }
        }

        /// The attachment lies in the system's own store, which is readable between these two calls only.
        private nonisolated static func reading<Value>(_ file: URL, _ read: (PictureFile) -> Value?) -> Value? {
            guard file.startAccessingSecurityScopedResource() else { return nil }
            defer { file.stopAccessingSecurityScopedResource() }
            return read(PictureFile(file))
        }
    }
#endif
