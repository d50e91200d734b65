import Foundation
import Testing

@testable import CommandLineSupport

@Suite("Handing over to the lab")
struct LabProgramTests {
    @Test(
        "a command of the lab is handed over, and so is help about it",
        arguments: [
            (["demo"], LabProgram.Command.demo), (["demo", "--port", "0"], .demo), (["emulator", "run", "--help"], .emulator),
            (["phone", "--user", "alice"], .phone), (["help", "emulator"], .emulator), (["help", "phone"], .phone),
        ])
    func isHandedOver(arguments: [String], command: LabProgram.Command) {
        #expect(LabProgram.command(in: arguments) == command)
    }

    @Test(
        "what is no command of the lab stays",
        arguments: [[], ["help"], ["--help"], ["serve"], ["serve", "demo"], ["help", "send"], ["--version", "demo"], ["Demo"]])
    func stays(arguments: [String]) {
        #expect(LabProgram.command(in: arguments) == nil)
    }

    @Test(
        "the lab lies in the folder of the program",
        arguments: [
            ("/opt/clarion/clarion", "/opt/clarion/clarion-lab"), ("/clarion", "/clarion-lab"), ("./clarion", "./clarion-lab"),
            ("clarion", "clarion-lab"),
        ])
    func path(program: String, expected: String) {
        #expect(LabProgram(beside: program).path == expected)
    }

    @Test("a lab that is missing is named with its place, and this program goes on")
    func missing() {
        let folder = "/nowhere-\(UUID().uuidString)"
        let sentence = LabProgram(beside: folder + "/clarion").run(.phone, arguments: ["clarion", "phone"])
        #expect(sentence.hasPrefix("`clarion phone` needs the program clarion-lab, and there is no \(folder)/clarion-lab;"))
    }

    @Test("a lab that cannot be started is named with the reason of the system")
    func notExecutable() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "clarion-lab-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try Data("no program".utf8).write(to: folder.appending(path: LabProgram.name))
        let lab = LabProgram(beside: folder.path + "/clarion")
        #expect(lab.run(.demo, arguments: ["clarion", "demo"]).hasSuffix("\(lab.path) cannot be started: Permission denied"))
    }
}
