import RichPushApp
import RichPushDevice
import RichPushUI
import SwiftUI

/// Who is signed in, the tags, the permission, and what `diagnose()` thinks of the set-up.
struct SettingsView: View {
    let push: RichPush
    let user: String
    let signedOut: @MainActor (SignOutResult) -> Void
    @State private var tags = ""
    @State private var permission: NotificationPermission?
    @State private var fingerprint: String?
    @State private var findings: [Diagnosis.Finding]?
    @State private var failure: String?
    @Environment(\.openURL) private var openURL

    var body: some View {
        NavigationStack {
            Form {
                Section("Account") {
                    Text("Signed in as \(user)")
                    Button("Sign out", role: .destructive) { Task { await signOut() } }.accessibilityIdentifier("sign-out")
                }
                Section("Tags") {
                    TextField("beta lang:sv", text: $tags)
                        .textInputAutocapitalization(.never).autocorrectionDisabled().accessibilityIdentifier("tags")
                    Button("Save tags") { Task { await saveTags() } }.accessibilityIdentifier("save-tags")
                }
                Section("Notifications") {
                    permissionText
                    Button("Open the system's settings") { openSettings() }
                }
                if let fingerprint {
                    Section("Encryption") {
                        Text("Compare this with what a sender sees")
                        Text(verbatim: fingerprint).textSelection(.enabled).accessibilityIdentifier("fingerprint")
                    }
                }
                Section("Set-up") { diagnosis }
                if let failure { Text(verbatim: failure).foregroundStyle(.red).accessibilityIdentifier("failure") }
            }
            .navigationTitle("Settings")
            .task { await load() }
        }
    }

    @ViewBuilder private var permissionText: some View {
        switch permission {
        case .granted: Text("Notifications are allowed")
        case .provisional: Text("Notifications come quietly")
        case .denied: Text("Notifications are off")
        case .notDetermined: Text("Permission has not been requested yet")
        case nil: EmptyView()
        }
    }

    @ViewBuilder private var diagnosis: some View {
        Button("Diagnose") { Task { findings = await push.diagnose().findings } }.accessibilityIdentifier("diagnose")
        if let findings {
            if findings.isEmpty { Label("Everything is set up", systemImage: "checkmark.circle") }
            ForEach(findings) { finding in
                VStack(alignment: .leading) {
                    Text(verbatim: "\(finding.severity.rawValue): \(finding.id)").font(.headline)
                    Text(verbatim: finding.sentence).font(.footnote)
                }
            }
        }
    }

    private func load() async {
        tags = await push.tags.current.joined(separator: " ")
        permission = await push.permission
        fingerprint = await push.sealingFingerprint
    }

    private func saveTags() async {
        do throws(RichPushError) {
            try await push.tags.set(tags.split(separator: " ").map(String.init))
            failure = nil
        } catch {
            failure = error.sentence
        }
    }

    private func signOut() async {
        do throws(RichPushError) {
            signedOut(try await push.signOut())
        } catch {
            failure = error.sentence
        }
    }

    private func openSettings() {
        if let settings = URL(string: UIApplication.openSettingsURLString) { openURL(settings) }
    }
}
