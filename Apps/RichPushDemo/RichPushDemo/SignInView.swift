import RichPushApp
import RichPushDevice
import RichPushUI
import SwiftUI

/// User and password, once. The phone keeps a credential of its own afterwards.
struct SignInView: View {
    let client: RichPushClient
    /// What the user who signed out before may want to know.
    var lost: SignOutResult?
    let done: @MainActor (String) -> Void
    @State private var user = ""
    @State private var password = ""
    @State private var isBusy = false
    @State private var failure: String?

    var body: some View {
        NavigationStack {
            Form {
                Section("Account") {
                    TextField("User name", text: $user)
                        .textContentType(.username).textInputAutocapitalization(.never).autocorrectionDisabled()
                        .accessibilityIdentifier("user")
                    SecureField("Password", text: $password).textContentType(.password).accessibilityIdentifier("password")
                }
                if let failure { Label(failure, systemImage: "exclamationmark.triangle").accessibilityIdentifier("failure") }
                if let lost, lost.lostReplies > 0 {
                    Label(
                        "Lost replies: \(lost.lostReplies.description)",
                        systemImage: "exclamationmark.bubble"
                    )
                    .accessibilityIdentifier("lost-replies")
                }
                Button("Log in and register") { Task { await signIn() } }
                    .disabled(user.isEmpty || password.isEmpty || isBusy)
                    .accessibilityIdentifier("login")
                if isBusy { ProgressView("Signing in") }
            }
            .navigationTitle("Rich Push")
        }
    }

    private func signIn() async {
        isBusy = true
        defer { isBusy = false }
        do throws(RichPushError) {
            try await client.signIn(user: user, password: password)
            password = ""
            _ = await client.requestPermission()
            done(await client.user ?? user)
        } catch {
            failure = error.sentence
        }
    }
}
