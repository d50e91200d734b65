import RichPushApp
import RichPushDevice
import RichPushModel
import RichPushUI
import SwiftUI

/// The rich push tutorial's button, and a message of one's own.
struct SendView: View {
    let push: RichPush
    let user: String
    @State private var message = ""
    @State private var style = DeliveryStyle.alert
    @State private var outcome: Text?
    @State private var isBusy = false

    var body: some View {
        NavigationStack {
            Form {
                Section("The tutorial's picture") {
                    Button("Send push") { Task { await send(nil) } }.accessibilityIdentifier("send")
                }
                Section("A message to yourself") {
                    TextField("Message", text: $message).accessibilityIdentifier("message")
                    Picker("Delivery", selection: $style) {
                        Text("Visible").tag(DeliveryStyle.alert)
                        Text("Silent").tag(DeliveryStyle.silent)
                        Text("Both").tag(DeliveryStyle.both)
                    }
                    Button("Send message") { Task { await send(request) } }
                        .disabled(message.isEmpty).accessibilityIdentifier("send-message")
                }
                if isBusy { ProgressView("Sending") }
                if let outcome { outcome.accessibilityIdentifier("outcome") }
            }
            .disabled(isBusy)
            .navigationTitle("Send")
        }
    }

    private var request: SendRequest {
        var request = SendRequest(message: message)
        request.style = style
        return request
    }

    private func send(_ request: SendRequest?) async {
        isBusy = true
        defer { isBusy = false }
        do throws(RichPushError) {
            let id = try await push.send(request)
            outcome = id.map { Text("Sent as number \($0.description).") } ?? Text("Sent.")
            message = ""
        } catch {
            outcome = Text(verbatim: error.sentence)
        }
    }
}
