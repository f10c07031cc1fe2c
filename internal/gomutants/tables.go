package gomutants

import "go/token"

// OtherOperators lists the operators that may be mistaken for an operator.
var OtherOperators = map[token.Token][]token.Token{
	token.ADD: {token.SUB}, token.SUB: {token.ADD}, token.MUL: {token.ADD}, token.QUO: {token.MUL}, token.REM: {token.QUO},
	token.SHL: {token.SHR}, token.SHR: {token.SHL}, token.AND: {token.OR}, token.OR: {token.AND}, token.XOR: {token.AND},
	token.AND_NOT: {token.AND}, token.LAND: {token.LOR}, token.LOR: {token.LAND},
	token.LSS: {token.LEQ, token.GEQ}, token.LEQ: {token.LSS, token.GTR}, token.GTR: {token.GEQ, token.LEQ},
	token.GEQ: {token.GTR, token.LSS},
	token.EQL: {token.NEQ}, token.NEQ: {token.EQL, token.LSS}, // x < y lets through some of what x != y refuses
	token.ADD_ASSIGN: {token.SUB_ASSIGN}, token.SUB_ASSIGN: {token.ADD_ASSIGN}, token.INC: {token.DEC},
	token.DEC: {token.INC},
}

// OtherWord has for a predeclared name the one that may be mistaken for it.
var OtherWord = map[string]string{"true": "false", "false": "true", "min": "max", "max": "min"}

// otherMethod has for a method of the runtime the one that may be mistaken for it.
var otherMethod = map[string]string{"Recv": "Borrow", "Borrow": "Recv", "Copy": "Refer", "Refer": "Copy",
	"Signal": "Await", "Await": "Signal"}

// otherBuffer has for a buffer the one that may be mistaken for it.
var otherBuffer = map[string]string{"In": "Out", "Out": "In", "Scratch": "Out"}

// otherField lists for a field of a selection table the values that may be mistaken for its value.
var otherField = map[string][]string{
	"Run":   {"allReduceRing", "allReduceTree", "broadcastLinear", "broadcastChain"},
	"Needs": {"AllNeedAll", "AllNeedRoot", "RootNeedsAll", "AllNeedLower", "NeedsUnknown"},
}
