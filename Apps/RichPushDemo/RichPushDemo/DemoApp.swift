import RichPushApp
import RichPushDevice
import RichPushUI
import SwiftUI

/// The rich push tutorial's app: sign in, send a push to yourself, and see its picture wherever it finds you.
@main
struct DemoApp: App {
    @UIApplicationDelegateAdaptor(RichPushDelegate.self) private var delegate
    @StateObject private var router = Router()
    private let push: RichPush

    init() {
        do throws(SetupError) {
            push = try RichPush.configure(.demo)
        } catch {
            // The entitlements lack the App Group: a mistake of the build, which shows at its first launch.
            fatalError("\(error)")
        }
    }

    var body: some Scene {
        WindowGroup {
            RootView(push: push, router: router)
                .richPush(push) {
                    router.show($0)
                } forget: {
                    router.forget()
                }
        }
    }
}
