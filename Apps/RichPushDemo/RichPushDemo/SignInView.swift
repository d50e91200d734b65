import RichPushApp
import RichPushDevice
import RichPushUI
import SwiftUI

/// User and password, or a token of an app's own accounts, once. The phone keeps a credential of its own afterwards.
struct SignInView: View {
    @ObservedObject var push: RichPush
    /// What the user who signed out before may want to know.
    var lost: SignOutResult?
    @State private var user = ""
    @State private var password = ""
    @State private var token = ""
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
                Section("Or a token of your own accounts") {
                    SecureField("Token", text: $token).accessibilityIdentifier("token")
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
                    .disabled(token.isEmpty && (user.isEmpty || password.isEmpty) || isBusy)
                    .accessibilityIdentifier("login")
                if isBusy || push.state == .signingIn { ProgressView("Signing in") }
            }
            .navigationTitle("Rich Push")
        }
    }

    private func signIn() async {
        isBusy = true
        defer { isBusy = false }
        do throws(RichPushError) {
            if token.isEmpty {
                try await push.signIn(user: user, password: password)
            } else {
                try await push.signIn(token: token)
            }
            (password, token) = ("", "")
            _ = await push.requestPermission()
        } catch {
            failure = error.sentence
        }
    }
}
