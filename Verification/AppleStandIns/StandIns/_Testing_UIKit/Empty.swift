// Empty: Testing looks for it when a module named UIKit is there.
