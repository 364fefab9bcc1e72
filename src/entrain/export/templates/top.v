// $title: the core with its parameters.
module entrain_top (
    input wire clock,
    input wire reset,
    input wire field_write,
    input wire [$index:0] field_index,
    input wire signed [$sum:0] field_value,
    input wire start,
    output wire done,
    output wire [$index:0] verdict,
    input wire [$index:0] read_index,
    output wire [$phase:0] read_phase
);
    entrain_core #(
        $settings
    ) core (
        .clock(clock), .reset(reset), .field_write(field_write), .field_index(field_index),
        .field_value(field_value), .start(start), .done(done), .verdict(verdict),
        .read_index(read_index), .read_phase(read_phase)
    );
endmodule
