import PushHub
import RichPushModel

/// What a finding means for a device of another platform than Apple's: its push service is not APNs.
extension Explanation.Finding {
    /// In place of what is said of iPhones. An absent sentence stays.
    private typealias Advice = [ExplanationCause: (sentence: String?, next: String)]

    func of(_ platform: Platform) -> Explanation.Finding {
        switch platform.service {
        case .browser:
            advised(by: Self.ofBrowsers) {
                $0.replacing(" APNs", with: " its push service").replacing("APNs", with: "The push service")
            }
        case .fcmv1: advised(by: Self.ofAndroid) { $0.replacing("APNs", with: "FCM") }
        default: self
        }
    }

    private func advised(by advice: Advice, naming service: (String) -> String) -> Explanation.Finding {
        var finding = self
        finding.sentence = service(sentence)
        finding.nextStep = nextStep.map(service)
        guard let cause = ExplanationCause(rawValue: cause), let advice = advice[cause] else { return finding }
        finding.sentence = advice.sentence ?? finding.sentence
        finding.nextStep = advice.next
        return finding
    }

    private static let ofAndroid: Advice = [
        .gone: (
            "FCM says that the app was removed, or that its token was replaced.", "Let the user open the app: it registers again."
        ),
        .badToken: (
            "FCM does not take the registration token of the device.",
            "Compare the Firebase project of the app with the service account of the hub."
        ),
        .inactiveToken: ("The registration token of the device is out of use.", "Let the user open the app: it registers again."),
        .noToken: ("The device has no registration token.", "Let the app register the token that `onNewToken` gives it."),
        .noTransport: ("The server has no service account of Firebase.", "Set `fcm-key-path`."),
        .noCredential: (nil, "Set `fcm-key-path`, or an account of the hub with `clarion hub set-fcm`."),
        .credentialRefused: (nil, "`clarion doctor --fcm` asks Google about the service account."),
        .waitsForOperator: (nil, "`clarion doctor --fcm` asks Google about the service account."),
        .rejected: (nil, "Documentation/FCM.md explains the answers of FCM."),
        .unknownOutcome: (nil, "Look whether the server reached FCM then."),
        .accepted: (
            "FCM took the push, and the device has reported nothing: it is off or offline, or the user has stopped the app by force.",
            "Let the user open the app."
        ),
        .acceptedSilently: (
            "FCM took the push, and the device has reported nothing: it is off, offline or in Doze, or the user stopped the app.",
            "Wait for the next maintenance window of Doze, or let the user open the app."
        ),
    ]

    private static let ofBrowsers: Advice = [
        .gone: (
            "The push service says that the browser has unsubscribed.",
            "Let the user open the page and allow notifications again."
        ),
        .badToken: ("The subscription of the browser cannot be used.", "Let the page register it again: `clarion.subscribe()`."),
        .inactiveToken: ("The subscription of the browser cannot be used.", "Let the page register it again."),
        .noToken: ("The browser has no subscription.", "Let the user open the page and allow notifications."),
        .forgotten: (
            "The hub has no record of the browser: it has unsubscribed, or was removed.",
            "Let the user open the page: it registers again."
        ),
        .noTransport: ("The server has no keys for Web Push.", "Set `web-push-keys` and `web-push-subject`."),
        .rejected: (nil, "Documentation/WebPush.md explains the answers of push services."),
        .tooLarge: (nil, "Send less text; a browser takes 3,993 bytes."),
        .unknownOutcome: (nil, "Look whether the server reached the push service of the browser then."),
        .accepted: (
            "The push service took the push, and the browser has reported nothing: it is closed or offline.",
            "Nothing: the push service delivers when the browser runs."
        ),
        .acceptedSilently: (
            "The push service took the push, and the browser has reported nothing: it is closed or offline.",
            "Nothing: the push service delivers when the browser runs."
        ),
        .tooLateAtAPNs: (
            "The push service took the push, and its time ran out: a browser that was closed until then does not get it.",
            "Send with a later `expiresAt`, or none."
        ),
        .hidden: (
            "The push service took the push, and the user does not allow the site to show notifications.",
            "The user can allow them in the browser's settings; the message is in the inbox."
        ),
        .neverAsked: (
            "The push service took the push, and the page has not asked the user yet.",
            "Let the page ask: `clarion.subscribe()`; the message is in the inbox."
        ),
        .notShown: (nil, "Look at the log of the service worker; the user sees the plain notification."),
        .noSealingKey: ("A browser opens nothing that is sealed.", "Send it unsealed, or to phones alone."),
    ]
}
