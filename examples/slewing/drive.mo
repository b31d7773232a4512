model SlewingDrive "The slewing crane on a motor with a gear, and a PI controller of the motor's speed"
  SlewingCraneDrives.Drive crane "needs SlewingCrane.mo and SlewingCraneDrives.mo: gpmelica modelica slewing.toml --case plant --drives";
  parameter Real ratio(unit = "1") = 100.0 "turns of the motor per turn of the column";
  Modelica.Blocks.Sources.Sine target(amplitude = -20.0, f = 0.5, phase = Modelica.Constants.pi/2, offset = 20.0)
    "speed of the motor to reach, rad/s: 0 at first, and at most 40"
    annotation(Placement(transformation(extent = {{-180.0, 20.0}, {-160.0, 40.0}})));
  Modelica.Blocks.Math.Feedback error "of the speed"
    annotation(Placement(transformation(extent = {{-150.0, 20.0}, {-130.0, 40.0}})));
  Modelica.Blocks.Continuous.PI controller(k = 4.0, T = 0.2) "voltage for an error of the speed"
    annotation(Placement(transformation(extent = {{-120.0, 20.0}, {-100.0, 40.0}})));
  Modelica.Electrical.Analog.Sources.SignalVoltage source "amplifier"
    annotation(Placement(transformation(origin = {-80.0, 0.0}, extent = {{-10.0, -10.0}, {10.0, 10.0}}, rotation = -90)));
  Modelica.Electrical.Analog.Basic.Resistor winding(R = 0.5) "of the motor"
    annotation(Placement(transformation(extent = {{-70.0, 20.0}, {-50.0, 40.0}})));
  Modelica.Electrical.Analog.Basic.RotationalEMF motor(k = 1.0) "current to torque, speed to voltage"
    annotation(Placement(transformation(extent = {{-50.0, -10.0}, {-30.0, 10.0}})));
  Modelica.Electrical.Analog.Basic.Ground ground
    annotation(Placement(transformation(extent = {{-90.0, -50.0}, {-70.0, -30.0}})));
  Modelica.Mechanics.Rotational.Components.Inertia rotor(J = 0.02) "of the motor"
    annotation(Placement(transformation(extent = {{-20.0, -10.0}, {0.0, 10.0}})));
  Modelica.Mechanics.Rotational.Sensors.SpeedSensor tachometer
    annotation(Placement(transformation(extent = {{0.0, -60.0}, {-20.0, -40.0}})));
  Modelica.Mechanics.Rotational.Components.IdealGear gear(ratio = ratio)
    annotation(Placement(transformation(extent = {{20.0, -10.0}, {40.0, 10.0}})));
equation
  connect(target.y, error.u1);
  connect(tachometer.w, error.u2);
  connect(error.y, controller.u);
  connect(controller.y, source.v);
  connect(source.p, winding.p);
  connect(winding.n, motor.p);
  connect(motor.n, source.n);
  connect(source.n, ground.p);
  connect(motor.flange, rotor.flange_a);
  connect(rotor.flange_b, gear.flange_a);
  connect(rotor.flange_b, tachometer.flange);
  connect(gear.flange_b, crane.slewing);
  annotation(
    uses(Modelica(version = "4.0.0")),
    experiment(StartTime = 0.0, StopTime = 2.0, Tolerance = 1e-8),
    Diagram(coordinateSystem(extent = {{-200.0, -100.0}, {160.0, 100.0}})));
end SlewingDrive;
