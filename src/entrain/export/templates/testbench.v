// Runs the core on every image of fields.hex; a line of each: its verdict, cycles and phases.
`timescale 1ns / 1ps
module testbench;
`include "parameters.vh"
    reg clock = 0, reset = 1, field_write = 0, start = 0;
    reg [INDEX-1:0] field_index = 0, read_index = 0;
    reg signed [SUM-1:0] field_value = 0;
    wire done;
    wire [INDEX-1:0] verdict;
    wire [PHASE-1:0] read_phase;

    entrain_core #(
        .OSCILLATORS(OSCILLATORS), .OUTPUTS(OUTPUTS), .STEPS(STEPS), .PHASE(PHASE),
        .COUPLING(COUPLING), .SINE(SINE), .ADDRESS(ADDRESS), .LANES(LANES), .SUM(SUM),
        .STEP(STEP), .SHIFT(SHIFT), .INDEX(INDEX)
    ) core (
        .clock(clock), .reset(reset), .field_write(field_write), .field_index(field_index),
        .field_value(field_value), .start(start), .done(done), .verdict(verdict),
        .read_index(read_index), .read_phase(read_phase)
    );

    always #5 clock = !clock;

    reg [SUM-1:0] fields [0:IMAGES*OSCILLATORS-1];
    integer image, i, cycles, file;

    initial begin
        $readmemh("fields.hex", fields);
        file = $fopen("results.txt", "w");
        repeat (2) @(negedge clock);
        reset = 0;
        for (image = 0; image < IMAGES; image = image + 1) begin
            for (i = 0; i < OSCILLATORS; i = i + 1) begin
                field_write = 1;
                field_index = i[INDEX-1:0];
                field_value = fields[image*OSCILLATORS + i];
                @(negedge clock);
            end
            field_write = 0;
            start = 1;
            @(negedge clock);
            start = 0;
            cycles = 1;
            while (!done) begin
                @(negedge clock);
                cycles = cycles + 1;
            end
            $fwrite(file, "%0d %0d", verdict, cycles);
            for (i = 0; i < OSCILLATORS; i = i + 1) begin
                read_index = i[INDEX-1:0];
                @(negedge clock);
                $fwrite(file, " %0d", read_phase);
            end
            $fwrite(file, "\n");
        end
        $fclose(file);
        $finish;
    end
endmodule
