from collgen_conform import serve

def broadcast(c):
    c.output.bytes[:] = c.input.bytes

serve({"Broadcast": broadcast}, rank=0, size=1, name="copies", types="int8 int32 float64")
