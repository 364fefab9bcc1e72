// A network of coupled oscillators in fixed point: one Euler step after the other.
//
// Fields are written one by one, `start` begins, `done` rises for one cycle when the answer stands
// in `verdict`; phases are read at `read_index` afterwards. Every oscillator takes its row of
// couplings from a memory, LANES of them in one cycle.
module entrain_core #(
    parameter OSCILLATORS = 2,
    parameter OUTPUTS = 1,
    parameter STEPS = 1,
    parameter PHASE = 16,
    parameter COUPLING = 10,
    parameter SINE = 12,
    parameter ADDRESS = 10,
    parameter LANES = 1,
    parameter SUM = 24,
    parameter STEP = 1,
    parameter SHIFT = 1,
    parameter INDEX = 8
) (
    input wire clock,
    input wire reset,
    input wire field_write,
    input wire [INDEX-1:0] field_index,
    input wire signed [SUM-1:0] field_value,
    input wire start,
    output reg done,
    output reg [INDEX-1:0] verdict,
    input wire [INDEX-1:0] read_index,
    output reg [PHASE-1:0] read_phase
);
    localparam BLOCKS = (OSCILLATORS + LANES - 1) / LANES;
    localparam WORDS = OSCILLATORS * BLOCKS;
    localparam TORQUE = SUM + SINE + 2;
    localparam PRODUCT = TORQUE + 17;
    localparam DROP = PHASE - ADDRESS;
    localparam [INDEX-1:0] LAST = OSCILLATORS - 1;
    localparam [INDEX-1:0] FIRST_OUTPUT = OSCILLATORS - OUTPUTS;

    localparam [3:0] IDLE = 0, LOAD = 1, FETCH = 2, LOOK = 3, KEEP = 4, ROW = 5, ADD = 6,
        MULTIPLY = 7, TURN = 8, SCALE = 9, MOVE = 10, COMPARE = 11;

    reg [PHASE-1:0] phases [0:OSCILLATORS-1];
    reg signed [SUM-1:0] fields [0:OSCILLATORS-1];
    reg signed [SINE-1:0] sines [0:OSCILLATORS-1];
    reg signed [SINE-1:0] cosines [0:OSCILLATORS-1];
    reg [LANES*SINE-1:0] sine_words [0:BLOCKS-1];
    reg [LANES*SINE-1:0] cosine_words [0:BLOCKS-1];
    reg [LANES*COUPLING-1:0] couplings [0:WORDS-1];
    reg signed [SINE-1:0] table_sine [0:(1<<ADDRESS)-1];
    reg signed [SINE-1:0] table_cosine [0:(1<<ADDRESS)-1];
    reg [PHASE-1:0] starts [0:OSCILLATORS-1];
    reg [PHASE-1:0] frequencies [0:OSCILLATORS-1];

    initial begin
        $readmemh("couplings.hex", couplings);
        $readmemh("sine.hex", table_sine);
        $readmemh("cosine.hex", table_cosine);
        $readmemh("start.hex", starts);
        $readmemh("frequencies.hex", frequencies);
    end

    reg [3:0] state;
    reg [INDEX-1:0] index;        // the oscillator at work
    reg [INDEX-1:0] lane;         // its place in a word
    reg [INDEX-1:0] block;        // the word at work
    reg [INDEX-1:0] block_before; // the word that was fetched
    reg [31:0] word;              // address of its couplings
    reg [31:0] step;
    reg fetched;

    reg [PHASE-1:0] phase;
    reg signed [SINE-1:0] looked_sine, looked_cosine, sine, cosine;
    reg [LANES*SINE-1:0] sine_word, cosine_word, sine_gathered, cosine_gathered;
    reg [LANES*COUPLING-1:0] coupling_word;
    reg signed [SUM-1:0] field, along, across;
    reg signed [TORQUE-1:0] first, second, torque;
    reg signed [PRODUCT-1:0] product;
    reg [PHASE-1:0] frequency, beginning, nearest;

    // The angle that the table is asked for, rounded.
    wire [PHASE-1:0] rounded = (DROP > 0) ? phase + ((1 << DROP) >> 1) : phase;
    wire [ADDRESS-1:0] address = rounded[PHASE-1:DROP];

    // Sums over the lanes of a word.
    reg signed [SUM-1:0] sum_along, sum_across;
    integer p;
    always @* begin
        sum_along = 0;
        sum_across = 0;
        for (p = 0; p < LANES; p = p + 1) begin
            sum_along = sum_along
                + $signed(coupling_word[p*COUPLING +: COUPLING])
                * $signed(cosine_word[p*SINE +: SINE]);
            sum_across = sum_across
                + $signed(coupling_word[p*COUPLING +: COUPLING])
                * $signed(sine_word[p*SINE +: SINE]);
        end
    end

    // The word that the sine at work completes.
    reg [LANES*SINE-1:0] next_sines, next_cosines;
    integer q;
    always @* begin
        next_sines = sine_gathered;
        next_cosines = cosine_gathered;
        for (q = 0; q < LANES; q = q + 1)
            if (lane == q) begin
                next_sines[q*SINE +: SINE] = looked_sine;
                next_cosines[q*SINE +: SINE] = looked_cosine;
            end
    end

    localparam signed [16:0] GAIN = STEP;
    localparam signed [PRODUCT-1:0] HALF = 1;
    wire signed [PRODUCT-1:0] moved = (product + (HALF <<< (SHIFT - 1))) >>> SHIFT;
    wire [PHASE-1:0] distance = phase[PHASE-1] ? -phase : phase;
    wire last_lane = (lane == LANES - 1) || (index == LAST);

    // Memories are read in every cycle, at addresses that the states set.
    always @(posedge clock) begin
        phase <= phases[index];
        field <= fields[index];
        beginning <= starts[index];
        frequency <= frequencies[index];
        coupling_word <= couplings[word];
        sine_word <= sine_words[block];
        cosine_word <= cosine_words[block];
        read_phase <= phases[read_index];
        looked_sine <= table_sine[address];
        looked_cosine <= table_cosine[address];
        sine <= sines[index];
        cosine <= cosines[index];
        if (field_write) fields[field_index] <= field_value;
    end

    always @(posedge clock) begin
        done <= 1'b0;
        if (reset) begin
            state <= IDLE;
            verdict <= 0;
        end else
            case (state)
                IDLE:
                    if (start) begin
                        index <= 0;
                        fetched <= 1'b0;
                        step <= 0;
                        sine_gathered <= 0;
                        cosine_gathered <= 0;
                        state <= LOAD;
                    end
                LOAD: begin  // phases begin at their start, two cycles each
                    fetched <= !fetched;
                    if (fetched) begin
                        phases[index] <= beginning;
                        index <= (index == LAST) ? 0 : index + 1'b1;
                        if (index == LAST) begin
                            lane <= 0;
                            block <= 0;
                            state <= FETCH;
                        end
                    end
                end
                FETCH: state <= LOOK;  // the phase arrives
                LOOK: state <= KEEP;   // its sine arrives
                KEEP: begin
                    sines[index] <= looked_sine;
                    cosines[index] <= looked_cosine;
                    sine_gathered <= next_sines;
                    cosine_gathered <= next_cosines;
                    if (last_lane) begin
                        sine_words[block] <= next_sines;
                        cosine_words[block] <= next_cosines;
                    end
                    lane <= last_lane ? 0 : lane + 1'b1;
                    block <= last_lane ? block + 1'b1 : block;
                    index <= (index == LAST) ? 0 : index + 1'b1;
                    state <= FETCH;
                    if (index == LAST) begin
                        block <= 0;
                        word <= 0;
                        state <= ROW;
                    end
                end
                ROW: begin  // the first words of a row arrive
                    along <= 0;
                    across <= 0;
                    block_before <= block;
                    block <= (BLOCKS > 1) ? 1 : 0;
                    word <= word + 1;
                    state <= ADD;
                end
                ADD: begin
                    along <= along + sum_along;
                    across <= across + sum_across;
                    block_before <= block_before + 1'b1;
                    if (block_before == BLOCKS - 1) state <= MULTIPLY;
                    else begin
                        block <= block + 1'b1;
                        word <= word + 1;
                    end
                end
                MULTIPLY: begin
                    first <= sine * (field + along);
                    second <= cosine * across;
                    state <= TURN;
                end
                TURN: begin
                    torque <= first - second;
                    state <= SCALE;
                end
                SCALE: begin
                    product <= torque * GAIN;
                    state <= MOVE;
                end
                MOVE: begin
                    phases[index] <= phase - moved[PHASE-1:0] + frequency;
                    block <= 0;
                    index <= (index == LAST) ? 0 : index + 1'b1;
                    state <= ROW;
                    if (index == LAST) begin
                        step <= step + 1;
                        lane <= 0;
                        word <= 0;
                        if (step == STEPS - 1) begin
                            index <= FIRST_OUTPUT;
                            nearest <= {PHASE{1'b1}};
                            fetched <= 1'b0;
                            state <= COMPARE;
                        end else state <= FETCH;
                    end
                end
                COMPARE: begin  // two cycles for an output: its phase arrives, then it is compared
                    fetched <= !fetched;
                    if (fetched) begin
                        if (distance < nearest) begin
                            nearest <= distance;
                            verdict <= index - FIRST_OUTPUT;
                        end
                        index <= index + 1'b1;
                        if (index == LAST) begin
                            done <= 1'b1;
                            state <= IDLE;
                        end
                    end
                end
                default: state <= IDLE;
            endcase
    end
endmodule
